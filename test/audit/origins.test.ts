import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../src/admin/user/link.ts'
import { sweep, SWEEP_START } from '../../src/server/background/sweep.ts'
import { openSteadyClock } from '../support/clocks.ts'
import { HOUR } from '../support/records.ts'
import { originOf } from '../../src/protocol/audit/origin.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser, registerClient, requestToken } from '../../tools/flow.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'
import { perform, type Members } from '../support/tasks.ts'
import { openOwner } from '../endpoints/account/owner.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const NEW = 'another long horse'
const [ADDRESS, NETWORK] = ['203.0.113.77', '203.0.113.0/24']

interface Listed {
  readonly events: readonly { readonly details: Members }[]
}

test('the network of an event is the /24 or the /48, and none where it is unreadable or unknown', () => {
  for (const [network, coarse] of [
    ['203.0.113.77', '203.0.113.0/24'],
    ['203.0.113.77 pages', '203.0.113.0/24'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['0:0:0:0::/64', '0:0:0::/48'],
    ['64:ff9b:1:2:3:4:5:6', '64:ff9b:1::/48'],
    ['unreadable', undefined],
    ['unreadable pages', undefined],
    [undefined, undefined],
  ] as const)
    assert.deepEqual(originOf(undefined, network), coarse === undefined ? {} : { network: coarse })
  assert.deepEqual(originOf({ browser: 'Firefox', system: undefined }, undefined), { browser: 'Firefox' })
})

test('audit: sign-ins, failed ones, refused codes and used links have their origin, and no whole address or header', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.1' } })
  await createAda(server)
  const client = await registerClient(server)
  const inject: TestServer['inject'] = (request) =>
    server.inject({
      ...request,
      headers: { ...request.headers, 'user-agent': FIREFOX, 'x-forwarded-for': ADDRESS },
    })
  const distant = { ...server, inject }
  const browser = new PlainBrowser(distant)
  const link = await browser.get((await createLink(server.context, EMAIL)).address)
  await browser.submit(link, { password: NEW, repeated: NEW })
  server.clock.advance(1001)
  const signIn = async (password: string) => {
    const page = await browser.get(locationOf(await browser.get('/account')))
    return browser.submit(page, { email: EMAIL, password })
  }
  await signIn(PASSWORD)
  await signIn(NEW)
  await addApp(server, EMAIL)
  browser.cookies.clear()
  await browser.submit(await signIn(NEW), { code: '000000' })
  await requestToken(distant, { ...client, client_secret: 'gcs_wrong' }, { grant_type: 'client_credentials' })
  await server.context.store.insertSettingOnce({ name: 'a-write-of-a-test', value: '' })

  const person = { browser: 'Firefox', system: 'Linux', network: NETWORK }
  for (const [event, expected] of [
    ['link.used', person],
    ['sign-in.failed', { ...person, reason: 'wrong-credentials' }],
    ['session.started', { ...person, methods: 'pwd' }],
    ['second-factor.refused', { ...person, reason: 'second-step-wrong' }],
    ['client.authentication-failed', { network: NETWORK }],
  ] as const) {
    const { events } = await perform<Listed>(server.context, 'audit.list', { event })
    const found = events.map(({ details }) => JSON.parse(JSON.stringify({ ...details, account: undefined })) as unknown)
    assert.deepEqual(found, [expected], event)
  }
  // The refusal's own line has the network if GRANTOR_LOG_NETWORKS says so.
  const refused = server
    .log()
    .split('\n')
    .filter((line) => line.includes('"event":"sign-in.failed"'))
  assert.match(refused.join('\n'), /"browser":"Firefox"/)
  assert.doesNotMatch(refused.join('\n'), /"network"/)
  const stored = JSON.stringify(selectAll(server, 'select events from audit_links'))
  assert.ok(!stored.includes(ADDRESS) && !stored.includes('Gecko'))
})

test('ACC-12: the export of a person has the origins of failed sign-ins to the account, and of no other account', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  for (const email of [EMAIL, 'nobody@acme.test'])
    await assert.rejects(openOwner(server, email, 'not the password').open('/account'))
  const owner = openOwner(server)
  const exported = (await owner.submit(await owner.open('/account/data'), 'csrf')).json<{
    readonly audit: { readonly events: readonly Members[] }
  }>()
  const failed = exported.audit.events.filter(({ event }) => event === 'sign-in.failed')
  assert.equal(failed.length, 1)
  assert.partialDeepStrictEqual(failed[0], { browser: null, network: '127.0.0.0/24', networks: null })
})

test('what the audit has of the networks of failed sign-ins ends with its retention time', async (t) => {
  const env = { GRANTOR_AUDIT_RETENTION: '7200' }
  const first = await openTestServer(t, { clock: openSteadyClock(), env })
  await createAda(first)
  await assert.rejects(openOwner(first, EMAIL, 'not the password').open('/account'))
  const server = await first.reopen()
  const has = (): boolean =>
    JSON.stringify(selectAll(server, 'select events from audit_links')).includes('127.0.0.0/24')
  assert.ok(has())
  server.clock.advance(4 * HOUR)
  await registerClient(server)
  while ((await sweep(server.context, SWEEP_START)).auditLinks > 0);
  assert.ok(!has())
})
