import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMAIL, locationOf, obtainTokens, PASSWORD, registerClient } from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { beginWindow, openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, dumpStore, selectAll } from '../../support/store/dump.ts'
import { formsOf, openOwner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

interface Export {
  readonly account: { readonly email: string; readonly user_id: string }
  readonly consents: readonly { readonly client_name: string; readonly 'client_name#de': string }[]
  readonly grants: readonly { readonly client_id: string; readonly scope: string }[]
  readonly sessions: readonly object[]
  readonly audit: { readonly events: readonly { readonly event: string }[]; readonly is_complete: boolean }
}

test('the export is a file with everything that is stored about the user', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server, { client_name: 'Board', 'client_name#de': 'Tafel' })
  await obtainTokens(server, client)
  const owner = openOwner(server)
  const answer = await owner.submit(await owner.open('/account/data'), 'csrf')
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="account.json"')
  assert.deepEqual([answer.headers['content-type'], answer.headers['cache-control']], ['application/json', 'no-store'])
  const exported = answer.json<Export>()
  assert.equal(exported.account.email, EMAIL)
  assert.equal(exported.consents[0]?.client_name, 'Board')
  assert.equal(exported.consents[0]['client_name#de'], 'Tafel')
  assert.deepEqual(
    exported.grants.map(({ client_id }) => client_id),
    [client.client_id],
  )
  assert.equal(exported.sessions.length, 2)
  assert.equal(exported.audit.is_complete, true)
  const events = exported.audit.events.map(({ event }) => event)
  for (const event of ['user.created', 'session.started', 'authorization.approved']) assert.ok(events.includes(event))
})

test('ACC-12: the export has no secret, no hash, and no data of others', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  await createAccount(server, { email: 'eve@acme.test', password: PASSWORD, name: 'Eve' })
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  await openOwner(server, 'eve@acme.test').open('/account')
  await server.inject({ method: 'GET', url: '/account' })
  const owner = openOwner(server)
  const answer = await owner.submit(await owner.open('/account/data'), 'csrf')
  const exported = answer.json<Export>()
  const secrets = [...owner.browser.cookies.values(), ...Object.values(tokens).filter((one) => typeof one === 'string')]
  const rows = Object.values(dumpStore(server)).flat()
  const hashes = rows.flatMap((row) => Object.entries(row).filter(([name]) => name.includes('hash')))
  const eve = selectAll(server, `select user_id from users where email = 'eve@acme.test'`)[0]?.['user_id']
  const unwanted = [
    ...secrets,
    ...hashes.flatMap(([, value]) => (typeof value === 'string' ? [value] : [])),
    'eve@acme.test',
    String(eve),
  ]
  assert.ok(unwanted.length > 10)
  for (const text of unwanted) assert.ok(text === 'Bearer' || !answer.body.includes(text), text)
  assert.match(exported.account.user_id, /^gus_/)
})

test('ACC-14: a stolen session that uses up one limit leaves the owner every other change', async (t) => {
  const server = await openTestServer(t)
  beginWindow(server)
  await createAda(server)
  const owner = openOwner(server)
  const [overview, data, security] = [
    await owner.open('/account'),
    await owner.open('/account/data'),
    await owner.open('/account/security/password'),
  ]
  const confirm = async (): Promise<void> => {
    const page = await owner.browser.get('/v2/oauth/sign-in?page=security')
    assert.equal((await owner.browser.submit(page, { email: EMAIL, password: 'another long horse' })).statusCode, 303)
  }
  const words = { password: 'another long horse', repeated: 'another long horse' }
  const retries = new Set<unknown>()
  const statusOf = ({ statusCode, headers }: Awaited<ReturnType<typeof owner.submit>>): number => {
    if (statusCode === 429) retries.add(Number(headers['retry-after']) > 0)
    return statusCode
  }
  const changes: Readonly<Record<string, () => Promise<number>>> = {
    name: async () => statusOf(await owner.submit(overview, 'name', { name: 'Grace' })),
    export: async () => statusOf(await owner.submit(data, 'csrf')),
    password: async () => statusOf(await owner.submit(security, 'password', words)),
  }
  for (const [spent, spend] of Object.entries(changes)) {
    for (let count = 0; count < 29; count += 1) assert.equal(await spend(), 200)
    for (const [name, change] of Object.entries(changes)) assert.equal(await change(), 200, `${spent}, then ${name}`)
    const before = selectAll(server, 'select * from users')
    assert.equal(await spend(), 429, spent)
    assert.deepEqual(selectAll(server, 'select * from users'), before)
    server.clock.advance(60 * 60_000)
    await confirm()
  }
  assert.deepEqual([...retries], [true])
  // An old session cannot use up what a confirmation is needed for.
  server.clock.advance(6 * 60_000)
  for (let count = 0; count < 31; count += 1) {
    assert.equal(await changes['password']?.(), 200)
    assert.match((await owner.submit(data, 'csrf')).body, pageSays('account.confirm'))
  }
  await confirm()
  assert.equal((await owner.submit(data, 'csrf')).headers['content-disposition'], 'attachment; filename="account.json"')
  assert.match((await owner.submit(security, 'password', words)).body, /role="status"/)
})

test('the export needs a sign-in within five minutes', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const owner = openOwner(server)
  const page = await owner.open('/account/data')
  server.clock.advance(6 * 60_000)
  const [form] = formsOf(page)
  const late = await assertStoreUnchanged(server, () => owner.browser.post('/account/data', { ...form?.hidden }))
  assert.equal(late.headers['content-disposition'], undefined)
  assert.match(late.body, pageSays('account.confirm'))
  assert.match(locationOf(await openOwner(server).browser.get('/account/data')), /page=data/)
})
