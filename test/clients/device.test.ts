import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { poll } from '../../tools/device-flow.ts'
import { openPerson } from '../../tools/person.ts'
import { createAda } from '../support/accounts.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { openTestServer } from '../support/server.ts'

const server = await openTestServer(WHOLE_FILE, { listen: true, env: DEVICES_ON })
await createAda(server)
const cli = await createDeviceClient(server)

/** Types the code that a device shows, signs in and answers. */
async function answer({ user_code: code }: { readonly user_code: string }, decision: 'allow' | 'deny'): Promise<void> {
  const ada = openPerson(server.origin)
  let shown = await ada.submit(await ada.visit(`${server.origin}/device`), { code })
  shown = await ada.submit(shown, { email: 'ada@acme.test', password: 'correct horse battery staple' })
  shown = await ada.submit(shown, { decision })
  assert.match(shown.body, decision === 'allow' ? /Connected/ : /Denied/)
}

/** Lets the waits of the library pass at once, and returns them. */
function skipWaits(t: TestContext): readonly number[] {
  const waits: number[] = []
  const wait = setTimeout
  t.mock.method(globalThis, 'setTimeout', (work: () => void, ms: number, ...rest: unknown[]) => {
    const isOfLibrary = new Error().stack?.includes('/openid-client/') === true
    if (isOfLibrary) waits.push(ms)
    return wait(work, isOfLibrary ? 0 : ms, ...rest)
  })
  return waits
}

test('DEV-01: openid-client 6 waits for the user, slows down, and gets tokens bound to its key', async (t) => {
  const options: client.DiscoveryRequestOptions = { execute: [client.allowInsecureRequests] }
  const config = await client.discovery(new URL(server.origin), cli.client_id, {}, client.None(), options)
  const device = await client.initiateDeviceAuthorization(config, { scope: 'openid' })
  assert.equal(device.verification_uri_complete, undefined)
  for (let polls = 0; polls < 15; polls += 1) await poll(server, cli, device)
  const seen: string[] = []
  config[client.customFetch] = async (url, init) => {
    if (seen.length === 1) server.clock.advance(10_000)
    const response = await fetch(url, init as RequestInit)
    const { error = 'tokens' } = (await response.clone().json()) as { readonly error?: string }
    seen.push(error)
    if (seen.length === 2) await answer(device, 'allow')
    return response
  }
  const waits = skipWaits(t)
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
  const tokens = await client.pollDeviceAuthorizationGrant(config, device, undefined, { DPoP })
  assert.deepEqual(seen, ['slow_down', 'authorization_pending', 'tokens'])
  assert.deepEqual(waits, [5000, 5000, 5000, 5000, 5000], '5 seconds, and 10 from slow_down on')
  assert.deepEqual([tokens.token_type, tokens.claims()?.aud], ['dpop', cli.client_id])
  const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP })
  assert.ok(next.access_token)
})

test('DEV-01: oauth4webapi 3 gets tokens for a device, and the error of one that was denied', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true } as const
  const url = new URL(server.origin)
  const as = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure))
  const own = { client_id: cli.client_id }
  const start = async () => {
    const response = await oauth.deviceAuthorizationRequest(as, own, oauth.None(), { scope: 'openid' }, insecure)
    return oauth.processDeviceAuthorizationResponse(as, own, response)
  }
  const redeem = async ({ device_code: code }: oauth.DeviceAuthorizationResponse) =>
    oauth.processDeviceCodeResponse(as, own, await oauth.deviceCodeGrantRequest(as, own, oauth.None(), code, insecure))
  const refused = (error: string) => (cause: unknown) =>
    cause instanceof oauth.ResponseBodyError && cause.error === error
  const [device, denied] = [await start(), await start()]
  assert.deepEqual([device.expires_in, device.interval], [600, 5])
  await assert.rejects(redeem(device), refused('authorization_pending'))
  await answer(device, 'allow')
  const tokens = await redeem(device)
  assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.aud, cli.client_id)
  await answer(denied, 'deny')
  await assert.rejects(redeem(denied), refused('access_denied'))
})
