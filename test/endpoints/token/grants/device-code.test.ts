import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { sweep, SWEEP_START } from '../../../../src/server/background/sweep.ts'
import { makeClientKey } from '../../../../tools/client-assertion.ts'
import { connectDevice, from, openDeviceConsent, poll, startDevice } from '../../../../tools/device-flow.ts'
import { makeProof } from '../../../../tools/dpop-proof.ts'
import { EMAIL, PlainBrowser, refresh, type RegisteredClient, type Tokens } from '../../../../tools/flow.ts'
import { createAda } from '../../../support/accounts.ts'
import { declareApi, knowApis } from '../../../support/apis.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { openStillClock } from '../../../support/clocks.ts'
import { createDeviceClient, DEVICES_ON } from '../../../support/sign-in/devices.ts'
import { assertError } from '../../../support/error-answer.ts'
import { addMember, createOrganization } from '../../../support/organizations.ts'
import { openTestServer } from '../../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../../support/store/dump.ts'
import { perform, performOnUser, type Members } from '../../../support/tasks.ts'
import { tokensOf } from '../../../support/token-answers.ts'

const server = await openTestServer(WHOLE_FILE, {
  clock: openStillClock(),
  env: { ...DEVICES_ON, GRANTOR_CLIENT_FAILURE_RATE: '5' },
})
const API = 'https://builds.example'
await createAda(server)
await declareApi(server, API, {}, [{ name: 'read', sentence: 'Read', grantedTo: 'users' }])
await declareApi(server, 'https://bound.example', { binding: 'dpop' }, [
  { name: 'bound', sentence: 'Bound', grantedTo: 'users' },
])
knowApis(server)
const cli = await createDeviceClient(server)
const other = await createDeviceClient(server, { client_name: 'Other' })
const MINUTE = 60_000

async function approved(
  client: RegisteredClient = cli,
  form: Record<string, string> = { scope: 'read', resource: API },
) {
  const device = await startDevice(server, client, form)
  await connectDevice(server, device)
  return device
}

function assertRevoked({ access_token: token }: Tokens): void {
  const grantId = String(decodeJwt(token)['grant_id'])
  const [grant] = selectAll(server, 'select revoked_at from grants where grant_id = ?', grantId)
  assert.equal(typeof grant?.['revoked_at'], 'number')
}

test('RFC 8628 §3.5: an approved device gets tokens as for a code, with a refresh token and an ID token', async () => {
  const device = await startDevice(server, cli, { scope: 'openid read', resource: API })
  assertError(await poll(server, cli, device), 400, 'authorization_pending')
  await connectDevice(server, device)
  const tokens = tokensOf(await poll(server, cli, device)) as Tokens & { readonly id_token: string }
  const claims = decodeJwt(tokens.access_token)
  assert.deepEqual([claims.aud, claims['client_id'], claims['scope']], [API, cli.client_id, 'read'])
  const identity = decodeJwt(tokens.id_token)
  assert.deepEqual([identity.aud, identity.sub, identity['nonce']], [cli.client_id, claims.sub, undefined])
  const next = tokensOf(await refresh(server, cli, tokens.refresh_token ?? ''))
  assert.notEqual(next.refresh_token, tokens.refresh_token)
  const [{ redirect_host: host } = {}] = selectAll(server, 'select redirect_host from grants')
  assert.equal(host, null)
})

test('DEV-02: 100 parallel polls after the approval give one set of tokens, which the others revoke', async () => {
  const device = await approved()
  const answers = await Promise.all(Array.from({ length: 100 }, () => poll(server, cli, device)))
  const [winner, another] = answers.filter(({ statusCode }) => statusCode === 200)
  assert.ok(winner !== undefined && another === undefined)
  for (const answer of answers) if (answer !== winner) assertError(answer, 400, 'invalid_grant')
  assertRevoked(winner.json<Tokens>())
})

test('DEV-02: a device waits, is denied, expires, is redeemed late, and is redeemed again', async () => {
  const [denied, waiting, slow, late] = [
    await startDevice(server, cli),
    await startDevice(server, cli),
    await startDevice(server, cli),
    await startDevice(server, cli),
  ]
  const browser = new PlainBrowser(server)
  const page = await browser.submit(await openDeviceConsent(browser, denied), { decision: 'deny' })
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /Denied/)
  for (const _ of [1, 2]) assertError(await poll(server, cli, denied), 400, 'access_denied')
  server.clock.advance(10 * MINUTE - 1)
  assertError(await poll(server, cli, waiting), 400, 'authorization_pending')
  await connectDevice(server, slow)
  await connectDevice(server, late)
  server.clock.advance(1)
  assertError(await poll(server, cli, waiting), 400, 'expired_token')
  server.clock.advance(5 * MINUTE - 2)
  tokensOf(await poll(server, cli, slow))
  server.clock.advance(1)
  assertError(await poll(server, cli, late), 400, 'expired_token')
  assertError(await poll(server, cli, slow), 400, 'invalid_grant')
  server.clock.advance(10 * MINUTE)
  await sweep(server.context, SWEEP_START)
  assert.deepEqual(selectAll(server, 'select device_id from devices'), [])
  assertError(await poll(server, cli, waiting), 400, 'expired_token')
})

test('DEV-14: a poll of a public client that waits writes nothing, and slow_down is of one device alone', async () => {
  const [busy, calm] = [await startDevice(server, cli), await startDevice(server, cli)]
  await assertStoreUnchanged(server, async () => {
    for (let polls = 0; polls < 15; polls += 1) assertError(await poll(server, cli, busy), 400, 'authorization_pending')
    for (const _ of [1, 2]) assertError(await poll(server, cli, busy), 400, 'slow_down')
    assertError(await poll(server, cli, calm), 400, 'authorization_pending')
  })
  const before = selectAll(server, 'select count(*) as hits from hits')
  await new Promise((resolve) => void setImmediate(resolve))
  assert.deepEqual(selectAll(server, 'select count(*) as hits from hits'), before)
  server.clock.advance(5000)
  assertError(await poll(server, cli, busy), 400, 'authorization_pending')
  await connectDevice(server, busy)
  for (let polls = 0; polls < 3; polls += 1) if (polls === 2) tokensOf(await poll(server, cli, busy))
})

test('DEV-14: codes that are made up count as failures of their network, which do not touch others', async () => {
  const guessing = from(server, '203.0.113.9')
  const device = await startDevice(server, cli)
  await assertStoreUnchanged(server, async () => {
    for (const code of [
      'x',
      device.user_code,
      `${device.device_code}x`,
      device.device_code.replace('gdv_', 'gac_'),
      '',
    ])
      assertError(
        await poll(guessing, cli, { device_code: code }),
        400,
        code === '' ? 'invalid_request' : 'invalid_grant',
      )
    for (const _ of [1, 2]) await poll(guessing, cli, { device_code: 'x' })
    assertError(await poll(guessing, cli, { device_code: 'x' }), 429, 'temporarily_unavailable')
  })
  assertError(await poll(server, cli, device), 400, 'authorization_pending')
  assertError(await poll(guessing, cli, device), 400, 'authorization_pending')
})

test('DEV-11: another client cannot use a device code, and changes nothing', async () => {
  const waiting = await startDevice(server, cli)
  const device = await approved()
  await assertStoreUnchanged(server, async () => {
    for (const one of [waiting, device]) assertError(await poll(server, other, one), 400, 'invalid_grant')
  })
  assert.match(server.log(), /"device.presented-by-another-client"/)
  tokensOf(await poll(server, cli, device))
})

test('DEV-11: a device code that was copied ends what it gave, and tokens bound to a key need the key', async () => {
  const device = await approved()
  const key = makeClientKey('ES256')
  const proof = () =>
    makeProof(key, { method: 'POST', address: `${server.origin}/v2/oauth/token`, nowMs: server.clock.now() })
  const bound = await server.inject({
    method: 'POST',
    url: '/v2/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', dpop: proof() },
    payload: new URLSearchParams({
      client_id: cli.client_id,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    }).toString(),
  })
  const tokens = tokensOf(bound)
  assert.equal(decodeJwt<{ cnf: { jkt: string } }>(tokens.access_token).cnf.jkt.length, 43)
  assertError(await refresh(server, cli, tokens.refresh_token ?? ''), 400, 'invalid_grant')
  assertError(await poll(server, cli, device), 400, 'invalid_grant')
  assertRevoked(tokens)

  const unbound = await approved(cli, { scope: 'bound', resource: 'https://bound.example' })
  const refused = await assertStoreUnchanged(server, () => poll(server, cli, unbound))
  assertError(refused, 400, 'invalid_request')
})

test('DEV-02: a device narrows its token, and a wrong parameter does not use the approval up', async () => {
  const device = await approved()
  await assertStoreUnchanged(server, async () => {
    for (const [form, error] of [
      [{ resource: 'https://bound.example' }, 'invalid_target'],
      [{ resource: '#' }, 'invalid_target'],
      [{ org_id: 'gor_x' }, 'invalid_request'],
      [{ user_id: 'gus_x' }, 'invalid_request'],
    ] as const)
      assertError(await poll(server, cli, device, form), 400, error)
  })
  tokensOf(await poll(server, cli, device, { resource: API }))
})

/** What ends between the approval and the poll, the error, and how it begins again. */
const endsOf = (member: Members): Readonly<Record<string, End>> => ({
  'the user is disabled': [
    () => performOnUser(server.context, 'user.disable', EMAIL),
    'invalid_grant',
    () => performOnUser(server.context, 'user.enable', EMAIL),
  ],
  'the tokens of the user are revoked': [
    () => performOnUser(server.context, 'user.revoke-tokens', EMAIL),
    'invalid_grant',
    async () => undefined,
  ],
  'the membership is disabled': [
    () => perform(server.context, 'member.disable', member),
    'invalid_grant',
    () => perform(server.context, 'member.enable', member),
  ],
  'the client is disabled': [
    () => perform(server.context, 'client.disable', { client_id: cli.client_id }),
    'invalid_client',
    () => perform(server.context, 'client.enable', { client_id: cli.client_id }),
  ],
  'the grant type is taken away': [
    () =>
      perform(server.context, 'client.update', {
        client_id: cli.client_id,
        grant_types: ['refresh_token', 'authorization_code'],
        redirect_uris: ['https://a.example/'],
      }),
    'unauthorized_client',
    async () => undefined,
  ],
})

type End = readonly [end: () => Promise<unknown>, error: string, again: () => Promise<unknown>]

test('DEV-09: what ended between the approval and the poll gives no tokens', async () => {
  const ada = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(ada)
  const organization = await createOrganization(server, 'Acme')
  await addMember(server, ada.id, organization)
  const ends = Object.entries(endsOf({ organization_id: organization, user_id: ada.id }))
  for (const [name, [end, error, again]] of ends) {
    server.clock.advance(2 * MINUTE)
    const device = await startDevice(server, cli, { scope: 'read', resource: API, org_id: organization })
    await connectDevice(server, device)
    server.clock.advance(1000)
    await end()
    server.clock.advance(1000)
    const refused = await poll(server, cli, device)
    assert.deepEqual([name, refused.json().error], [name, error])
    await again()
  }
})
