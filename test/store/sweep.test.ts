import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWholeSlice, sweep, SWEEP_START } from '../../src/server/background/sweep.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type Tokens,
} from '../../tools/flow.ts'
import { openDeviceConsent, poll, startDevice } from '../../tools/device-flow.ts'
import { DEVICE_CODE } from '../../src/protocol/token/grant-types.ts'
import { createAda } from '../support/accounts.ts'
import { createOrganization, install } from '../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'
import { sweepRound } from '../support/store/sweep-round.ts'
import { perform } from '../support/tasks.ts'

const HOUR = 3_600_000

test('STO-04: a sweep keeps the evidence: a code replayed hours later still revokes the tokens it was redeemed for', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
  server.clock.advance(23 * HOUR)
  await sweepAll(server)
  assert.equal((await redeem(server, client, code)).json().error, 'invalid_grant')
  assert.equal((await refresh(server, client, token)).json().error, 'invalid_grant')
})

test('BND-01: authorization requests that no user finished are removed within minutes after they expired', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  await obtainCode(server, client)
  await obtainTokens(server, await registerClient(server))
  for (let request = 0; request < 250; request += 1)
    assert.equal((await server.inject({ url: authorizeUrl(client) })).statusCode, 303)
  server.clock.advance(600_000)
  await sweepAll(server)
  assert.equal(countOf(server, 'authorizations'), 252, 'A code of a quick user can still be redeemed.')
  server.clock.advance(121_000)
  const first = await sweep(server.context, SWEEP_START)
  assert.equal(isWholeSlice(first), true)
  assert.equal(isWholeSlice(await sweep(server.context, first)), false)
  assert.deepEqual(
    selectAll(server, 'select status from authorizations').map(({ status }) => status),
    ['approved'],
  )
})

test('DEV-02: a device whose tokens have expired gets no others with its code, also after a sweep', async (t) => {
  const server = await openTestServer(t, { env: { ...DEVICES_ON, GRANTOR_ACCESS_TOKEN_LIFETIME: '60' } })
  await createAda(server)
  const client = await createDeviceClient(server, { grant_types: [DEVICE_CODE] })
  const device = await startDevice(server, client)
  const browser = new PlainBrowser(server)
  const page = await openDeviceConsent(browser, device)
  // The user allows it at the last moment, so that the code outlives the authorization.
  server.clock.advance(595_000)
  assert.equal((await browser.submit(page, { decision: 'allow' })).statusCode, 200)
  assert.equal((await poll(server, client, device)).statusCode, 200)
  server.clock.advance(130_000)
  await sweepAll(server)
  const again = await poll(server, client, device)
  assert.equal(again.json<{ error: string }>().error, 'invalid_grant', again.body)
})

test('STO-04: a rotated refresh token is recognized as one for as long as its family is live', async (t) => {
  const server = await openTestServer(t, { env: STRICT })
  await createAda(server)
  const client = await registerClient(server)
  const first = await obtainTokens(server, client)
  let live = first.refresh_token ?? ''
  for (let day = 0; day < 80; day += 20) {
    live = (await refresh(server, client, live)).json<Tokens>().refresh_token ?? ''
    server.clock.advance(20 * 24 * HOUR)
    await sweepAll(server)
  }
  assert.equal((await refresh(server, client, first.refresh_token ?? '')).json().error, 'invalid_grant')
  assert.match(server.log(), /refresh-token\.reused/)
  assert.equal((await refresh(server, client, live)).json().error, 'invalid_grant')
})

test('a sweep ends no token before its time, and removes what has expired', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const { refresh_token: token = '' } = await obtainTokens(server, client)
  server.clock.advance(30 * 24 * HOUR - 60_000)
  await sweepAll(server)
  const { refresh_token: next = '' } = (await refresh(server, client, token)).json<Tokens>()
  assert.notEqual(next, '')
  assert.equal(countOf(server, 'sessions') + countOf(server, 'authorizations'), 0)
  server.clock.advance(30 * 24 * HOUR)
  await sweepAll(server)
  assert.equal(countOf(server, 'grants'), 0)
  assert.equal((await refresh(server, client, next)).json().error, 'invalid_grant')
})

test('decision 0021: a client that never got a token is removed after a day, unless it is being authorized', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const unused = await registerClient(server)
  const machine = await registerClient(server)
  await requestToken(server, machine, { grant_type: 'client_credentials' })
  const allowed = await registerClient(server)
  await obtainTokens(server, allowed)
  const pending = await registerClient(server)
  server.clock.advance(24 * HOUR - 60_000)
  const browser = new PlainBrowser(server)
  const start = locationOf(await browser.get(authorizeUrl(pending)))
  server.clock.advance(120_000)
  await sweepAll(server)
  const left = selectAll(server, 'select client_id from clients').map((row) => row['client_id'])
  assert.deepEqual(new Set(left), new Set([machine, allowed, pending].map(({ client_id }) => client_id)))
  assert.ok(!left.includes(unused.client_id))

  const page = await browser.get(start)
  const asked = await browser.get(locationOf(await browser.submit(page, { email: EMAIL, password: PASSWORD })))
  const answer = new URL(locationOf(await browser.submit(asked, { decision: 'allow' })))
  await sweepAll(server)
  const redeemed = await redeem(server, pending, answer.searchParams.get('code') ?? '')
  assert.equal(redeemed.statusCode, 200, redeemed.body)
  server.clock.advance(1000 * 24 * HOUR)
  await sweepAll(server)
  assert.equal(countOf(server, 'clients'), 3)
})

test('every row of a deleted client is removed in the end', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const [gone, kept] = [await registerClient(server), await registerClient(server)]
  const organization = await createOrganization(server, 'Acme')
  for (const client of [gone, kept]) {
    await obtainTokens(server, client)
    await install(server, client, organization)
  }
  const tables = ['clients', 'consents', 'installations', 'grants', 'authorizations']
  const left = () => tables.map((table) => countOf(server, table))
  assert.deepEqual(left(), [2, 2, 2, 2, 2])
  await perform(server.context, 'client.delete', { client_id: gone.client_id })
  assert.deepEqual(left(), [1, 2, 1, 2, 2])
  await sweepAll(server)
  assert.deepEqual(left(), [1, 1, 1, 2, 2])
  server.clock.advance(91 * 24 * HOUR)
  await sweepAll(server)
  assert.deepEqual(left(), [1, 1, 1, 0, 0])
  for (const table of ['consents', 'installations'])
    assert.equal(selectAll(server, `select client_id from ${table}`)[0]?.['client_id'], kept.client_id)
})

async function sweepAll({ context }: TestServer): Promise<void> {
  await sweep(context, SWEEP_START)
  await sweepRound(context)
}

function countOf(server: TestServer, table: string): number {
  return Number(selectAll(server, `select count(*) as n from ${table}`)[0]?.['n'])
}
