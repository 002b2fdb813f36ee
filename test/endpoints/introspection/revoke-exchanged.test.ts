import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { openDeviceConsent, poll, startDevice } from '../../../tools/device-flow.ts'
import { PlainBrowser, registerClient, requestToken, type RegisteredClient, type Tokens } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { A, openExchanges } from '../../support/exchanges.ts'
import { install } from '../../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { isActive, revoke } from '../../support/token-questions.ts'

/** What revoking the access token of a client ends of what APIs got for it in exchange.. */

const { server, a, b, ada, acme, tokensFor, exchanged } = await openExchanges(WHOLE_FILE, { env: DEVICES_ON })

interface Case {
  readonly name: string
  readonly obtain: () => Promise<{ readonly app: RegisteredClient; readonly tokens: Tokens }>
  /** Whether the client keeps a refresh token, with which it can end the rest. */
  readonly keeps: boolean
}

const CASES: readonly Case[] = [
  { name: 'a code, without refresh tokens', obtain: () => byCode(['authorization_code']), keeps: false },
  { name: 'a code, with refresh tokens', obtain: () => byCode(['authorization_code', 'refresh_token']), keeps: true },
  { name: 'a device, without refresh tokens', obtain: () => byDevice([]), keeps: false },
  { name: 'a device, with refresh tokens', obtain: () => byDevice(['refresh_token']), keeps: true },
  { name: 'a client for a member who did not sign in', obtain: forMember, keeps: false },
]

for (const { name, obtain, keeps } of CASES) {
  test(`REV-03: revoking the access token of ${name} ${keeps ? 'leaves' : 'ends'} what APIs got in exchange`, async () => {
    const { app, tokens } = await obtain()
    const { tokens: others } = await obtain()
    assert.equal(tokens.refresh_token !== undefined, keeps)
    const chain = await chainOf(tokens.access_token)
    const otherChain = await chainOf(others.access_token)
    assert.equal((await revoke(server, app, tokens.access_token)).statusCode, 200)
    assert.deepEqual(
      await statesOf(chain),
      chain.map(() => keeps),
    )
    assert.deepEqual(
      await statesOf(otherChain),
      otherChain.map(() => true),
      'another token of the user',
    )
    if (tokens.refresh_token === undefined) return
    await revoke(server, app, tokens.refresh_token)
    assert.deepEqual(
      await statesOf(chain),
      chain.map(() => false),
    )
  })
}

type Chain = readonly (readonly [api: RegisteredClient, token: string])[]

/** A token of b, which is opaque, and with it one of a, which is a JWT. */
async function chainOf(subject: string): Promise<Chain> {
  const { access_token: opaque } = await exchanged(a, subject)
  const { access_token: jwt } = await exchanged(b, opaque, { resource: A })
  return [
    [b, opaque],
    [a, jwt],
  ]
}

async function statesOf(chain: Chain): Promise<readonly unknown[]> {
  return Promise.all(chain.map(([api, token]) => isActive(server, api, token)))
}

async function byCode(grantTypes: readonly string[]) {
  const app = await registerClient(server, { grant_types: grantTypes })
  return { app, tokens: await tokensFor({}, { app }) }
}

async function byDevice(more: readonly string[]) {
  const app = await createDeviceClient(server, {
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', ...more],
  })
  const device = await startDevice(server, app, { scope: 'a:read', resource: A })
  const browser = new PlainBrowser(server)
  await browser.submit(await openDeviceConsent(browser, device), { decision: 'allow', organization: 'none' })
  return { app, tokens: tokensOf(await poll(server, app, device)) }
}

async function forMember() {
  const app = await registerClient(server)
  await install(server, app, acme, { scope: 'a:status b:status' as Scope, actsForMembers: true })
  const form = { grant_type: 'client_credentials', org_id: acme, user_id: ada, resource: A, scope: 'a:status' }
  return { app, tokens: tokensOf(await requestToken(server, app, form)) }
}
