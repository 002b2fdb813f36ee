import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAudit } from '../../src/admin/audit/list.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  registerClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

type Line = Readonly<Record<string, unknown>>

function linesOf(server: TestServer, event: string): readonly Line[] {
  const lines = server.log().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line['event'] === event)
}

/** A refused sign-in, and then one with a consent and tokens. */
async function signIn(server: TestServer): Promise<void> {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  await browser.submit(page, { email: EMAIL, password: 'wrong-password' })
  const consent = await browser.get(locationOf(await browser.submit(page, { email: EMAIL, password: PASSWORD })))
  const allowed = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  const code = allowed.searchParams.get('code') ?? ''
  assert.ok((await redeem(server, client, code)).json<Tokens>().access_token)
}

test('the log and the audit of a sign-in, a consent and a refusal have the user, the client and one request id', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const user = await server.context.store.findUserByEmail(EMAIL)
  await signIn(server)
  const { rows } = await listAudit(server.context, { limit: 100, before: undefined, userId: user?.id })
  for (const [event, logged] of [
    ['sign-in.failed', 'sign-in.refused'],
    ['session.started', 'session.started'],
    ['authorization.approved', 'authorization.approved'],
  ] as const) {
    const [line, ...more] = linesOf(server, logged)
    assert.equal(more.length, 0, logged)
    const recorded = rows.find((row) => row.event === event)
    assert.ok(line !== undefined && recorded !== undefined, event)
    assert.equal(line['user'], user?.id, logged)
    assert.match(String(line['client']), /^gci_/, logged)
    assert.equal(recorded.requestId, line['request_id'], event)
  }
  const [failed] = linesOf(server, 'sign-in.failed')
  assert.equal(failed?.['request_id'], linesOf(server, 'sign-in.refused')[0]?.['request_id'])
  assert.ok(!server.log().includes(EMAIL))
  for (const event of ['token.issued', 'client.registered'])
    assert.equal(linesOf(server, event)[0]?.['network'], undefined)
})

test('repeated refusals of different requests are one event and a count, and the event has the id of the first', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  for (let again = 0; again < 3; again += 1) await browser.submit(page, { email: EMAIL, password: 'wrong-password' })
  server.clock.advance(120_000)
  await server.context.auditRecorder.flush()
  const { rows } = await listAudit(server.context, { limit: 100, before: undefined, event: 'sign-in.failed' })
  const [first] = linesOf(server, 'sign-in.refused')
  assert.deepEqual(
    rows.map(({ requestId, details }) => [requestId, details?.['again']]),
    [
      [undefined, 2],
      [first?.['request_id'], undefined],
    ],
  )
})

test('links with and without request ids are verified, a changed request id is found, and --until ends the list before a time', async (t) => {
  const server = await openTestServer(t)
  const { context } = server
  // Without a request, as every link of an earlier release.
  await createAda(server)
  const between = server.clock.now()
  server.clock.advance(5000)
  await signIn(server)
  const page = { limit: 100, before: undefined }
  const [before, after] = [
    await listAudit(context, { ...page, until: (between + 1000) as EpochMs }),
    await listAudit(context, { ...page, since: (between + 1000) as EpochMs }),
  ]
  assert.deepEqual(
    before.rows.map(({ event, requestId }) => [event, requestId]),
    [
      ['user.created', undefined],
      ['key.added', undefined],
    ],
  )
  assert.ok(after.rows.some(({ requestId }) => requestId !== undefined))
  assert.equal(before.rows.length + after.rows.length, (await listAudit(context, page)).rows.length)
  assert.deepEqual((await verifyAudit(context, [])).faults, [])
  const { listAuditLinks } = context.store
  const store = {
    listAuditLinks: async (...of: Parameters<typeof listAuditLinks>) =>
      (await listAuditLinks(...of)).map((link) => ({
        ...link,
        events: link.events.replace(/"requestId":"./, '"requestId":"~'),
      })),
  }
  const faults = new Set((await verifyAudit({ ...context, store }, [])).faults.map(({ kind }) => kind))
  assert.deepEqual([...faults], ['changed'])
})

test('with GRANTOR_LOG_NETWORKS the lines of pages, issued tokens and refusals have the network of the caller', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_LOG_NETWORKS: 'true' } })
  await createAda(server)
  await signIn(server)
  await redeem(server, await registerClient(server), 'gac_made-up')
  for (const [event, network] of [
    ['sign-in.refused', '127.0.0.1'],
    ['session.started', '127.0.0.1'],
    ['authorization.approved', '127.0.0.1'],
    ['request.refused', '127.0.0.1'],
    ['token.issued', '127.0.0.1'],
    ['client.registered', undefined],
  ] as const) {
    assert.equal(linesOf(server, event)[0]?.['network'], network, event)
  }
})
