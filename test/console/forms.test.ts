import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { EMAIL, hiddenFields, locationOf, requestToken } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { type ConsoleBrowser, formOf, giveRole, leadsTo, openConsole } from '../../tools/console-browser.ts'
import { perform, type Members, said, saidOf } from '../support/tasks.ts'

/** What the forms and lists of the console do. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  browser = await openConsole(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const show = (id: string): Promise<Members> => perform(stage.server.context, 'client.show', { client_id: id })

async function makeClients(count: number): Promise<readonly string[]> {
  const made: string[] = []
  while (made.length < count) made.push((await stage.makeClient()).client_id)
  return made
}

test('CON-09: rows that the time or the right of the person does not reach are not tried, and each is named', async () => {
  const { context, clock } = stage.server
  const { actingAs } = context
  const ids = await makeClients(50)
  const ada = (await context.store.findUserByEmail('ada@acme.test'))?.id ?? assert.fail()
  /** What happens with each row that is done. */
  const during = async (change: () => unknown, rows: readonly string[]) => {
    const disabling = (actor: string): ReturnType<typeof actingAs> => {
      const store = actingAs(actor, undefined)
      return { ...store, disableClient: async (row) => (await change(), store.disableClient(row)) }
    }
    Object.assign(context, { actingAs: disabling })
    const answer = await browser.send('/console/clients', 'client.disable', rows)
    Object.assign(context, { actingAs })
    return answer
  }
  const slow = await during(() => clock.advance(4000), ids)
  assert.match(slow.body, new RegExp(saidOf('client.disable', '3 of 50')))
  assert.equal(slow.body.match(/Not tried\./g)?.length, 47)
  const disabled = async () => (await Promise.all(ids.map(show))).filter((one) => one['disabled_at'] !== null).length
  assert.equal(await disabled(), 3)
  const changes: readonly (readonly [what: string, change: () => Promise<unknown>])[] = [
    ['the role is removed', () => perform(context, 'role.remove', { user_id: ada })],
    ['the role may only read', () => giveRole(stage.server, 'read')],
    ['all tokens of the user are revoked', () => perform(context, 'user.revoke-tokens', { user_id: ada })],
  ]
  for (const [index, [what, change]] of changes.entries()) {
    const rows = ids.slice(10 + index * 3, 13 + index * 3)
    clock.advance(1000)
    await during(change, rows)
    assert.equal(await disabled(), 4 + index, what)
    await giveRole(stage.server)
    await browser.open()
  }
})

test('what cannot be undone needs a sign-in of the last five minutes, a confirmation, and from 11 rows on the number', async () => {
  const clients = await makeClients(11)
  stage.server.clock.advance(5 * 60 * 1000 + 1)
  const leaving = await browser.send('/console/clients?source=registration', 'client.delete', clients)
  const to = new URL(leadsTo(leaving) ?? '')
  assert.deepEqual(
    ['max_age', 'login_hint'].map((name) => to.searchParams.get(name)),
    ['0', EMAIL],
  )
  const signIn = await browser.issuer.get(locationOf(await browser.issuer.get(to.href)))
  assert.match(signIn.body, new RegExp(`name="email"[^>]*value="${EMAIL}"`), 'It is asked for the password alone.')
  await show(clients[0] ?? '')
  const asked = await browser.arrive(await browser.comeBack(leaving))
  assert.match(asked.body, /Delete: 11 rows[^]*Type 11 to confirm/)
  const list = '/console/clients?source=registration'
  const done = await browser.send(list, 'client.delete', clients, { asked: '1', typed: '11' })
  assert.match(done.body, new RegExp(saidOf('client.delete', '11 of 11')))
  await assert.rejects(show(clients[0] ?? ''), /There is no client/)
  // The confirmation alone is not enough.
  const [last = ''] = await makeClients(1)
  stage.server.clock.advance(5 * 60 * 1000 + 1)
  assert.notEqual(leadsTo(await browser.send(list, 'client.delete', [last], { asked: '1' })), undefined)
  await show(last)
  await browser.open()
})

test('a page of an object does what its buttons say, and only what fits its state', async () => {
  const [id = ''] = await makeClients(1)
  const path = `/console/clients/${id}`
  const page = await browser.console.get(path)
  assert.doesNotMatch(page.body, /value="client\.(unverify|enable)"/)
  const disabled = await browser.press(page, 'client.disable')
  assert.match(disabled.body, new RegExp(`${said('client.disable', { client_id: 'Client \\d+' })}[^]*Undo`))
  assert.notEqual((await show(id))['disabled_at'], null)
  assert.equal((await browser.console.get(`/console/clients/gci_${'0'.repeat(34)}`)).statusCode, 404)
  const consent = await browser.console.get(`${path}/consent`)
  assert.match(consent.body, /wants to use your account[^]*Unverified/)
  assert.match(consent.body, new RegExp(`Preview: nothing works here\\.[^]*href="${path}">Back<`))
  assert.doesNotMatch(consent.body, /<button(?! disabled)/)
  assert.match(
    String(consent.headers['content-security-policy']),
    /default-src 'none';.*frame-ancestors 'none'; sandbox$/,
  )
  const deleted = await browser.press(
    await browser.arrive(await browser.comeBack(await browser.press(page, 'client.delete'))),
    'client.delete',
  )
  assert.match(deleted.body, new RegExp(`${said('client.delete', { client_id: 'Client \\d+' })}[^]*<h1>Clients`))
  await assert.rejects(show(id), /There is no client/)
})

test('LNK-08: the link of a person whose role ended opens nothing, and is mailed only where there is a mail server', async () => {
  const { id, email } = await stage.makeUser()
  await browser.open()
  const path = `/console/users/${id}?ask=user.create-link`
  let asked = await browser.console.get(path)
  if (leadsTo(asked) !== undefined) asked = await browser.arrive(await browser.comeBack(asked))
  const { context } = stage.server
  const { mail } = context
  const sending = path.replace('create-link', 'send-link')
  assert.equal((await browser.console.get(sending)).statusCode, 404, 'There is no mail server.')
  Object.assign(context, { mail: {} })
  assert.match(formOf(await browser.console.get(sending), 'user.send-link'), /Send reset mail/)
  Object.assign(context, { mail })
  const form = hiddenFields({ body: formOf(asked, 'user.create-link') })
  const first = await browser.console.post(`/console/users/${id}`, form)
  const link = /http:\/\/localhost:3000\/account\/link[^<"\s]*/.exec(first.body)?.[0] ?? assert.fail(first.body)
  assert.match(
    first.body,
    new RegExp(
      `${said('user.create-link', { user_id: email, expires_at: '\\d+ \\w+ \\d{4}, [^<]*' })}[^]*<h1>Link<[^]*It is shown this once\\.`,
    ),
  )
  const [made] = await stage.server.context.store.listLinks(id)

  // Also after the person got a role again.
  const opens = async () => {
    const { statusCode } = await stage.server.inject({ method: 'GET', url: link.replace('http://localhost:3000', '') })
    const { link: shown } = await perform(context, 'user.show', { user_id: id })
    return [statusCode, shown !== null]
  }
  const { id: ada } = (await context.store.findUserByEmail('ada@acme.test')) ?? {}
  assert.deepEqual([made?.madeBy?.userId, await opens()], [ada, [200, true]])
  await perform(context, 'user.disable', { user_id: ada })
  assert.deepEqual(await opens(), [400, false])
  await perform(context, 'user.enable', { user_id: ada })
  assert.deepEqual(await opens(), [400, false])
  await perform(context, 'role.remove', { user_id: ada })
  assert.deepEqual(await opens(), [400, false])
  stage.server.clock.advance(1000)
  await giveRole(stage.server)
  assert.deepEqual(await opens(), [400, false])
  await browser.open()
})

test('access is taken back: a grant, a session, and the authenticator app of a user', async () => {
  const client = await stage.makeClient()
  const tokens = await stage.makeTokens()
  const ada = await stage.server.context.store.findUserByEmail('ada@acme.test')
  const path = `/console/users/${ada?.id ?? ''}`
  const page = await browser.console.get(path)
  assert.match(page.body, /Can sign in<[^]*With the password/)
  const grants = await perform<{ grants: readonly Members[] }>(stage.server.context, 'grant.list', {
    user_id: ada?.id,
    limit: 1,
  })
  const grant = String(grants.grants[0]?.['grant_id'])
  const asked = await browser.send(path, 'grant.revoke', [grant])
  assert.match(asked.body, /Revoke: [^]*ada@acme\.test/)
  assert.match(
    (await browser.press(asked, 'grant.revoke')).body,
    new RegExp(said('grant.revoke', { grant_id: 'Client \\d+’s access to ada@acme\\.test' })),
  )
  const shown = await browser.console.get(`/console/grants/${grant}`)
  assert.match(shown.body, /Revoked<\/span>/)
  const refreshed = await requestToken(stage.server, client, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token ?? '',
  })
  assert.equal(refreshed.statusCode, 400)
})

test('what the filters find is deleted at once, after a dry run and its number, and nothing that matches only meanwhile', async () => {
  const made = (name: string) => perform(stage.server.context, 'client.create', { client_name: name })
  const names = Array.from({ length: 12 }, (_, index) => `Flood ${index}`)
  for (const name of names) await made(name)
  await makeClients(1)
  const list = '/console/clients?text=flood&source=operator'
  const linked = /href="([^"]*ask=client\.purge[^"]*)"/.exec((await browser.console.get(list)).body)?.[1] ?? ''
  assert.doesNotMatch((await browser.console.get('/console/clients')).body, /ask=client\.purge/)
  const asked = await browser.open(linked.replaceAll('&amp;', '&'))
  assert.match(asked.body, /Delete all that match: 12 rows[^]*12 match\.[^]*Flood 11[^]*Type 12 to confirm/)
  await made('Flood 12')
  const late = await browser.press(asked, 'client.purge', { typed: '12' })
  assert.deepEqual([late.statusCode, /13 match now, which is another number/.test(late.body)], [422, true])
  assert.match(
    (await browser.press(late, 'client.purge', { typed: '13' })).body,
    new RegExp(`${saidOf('client.purge', '13')}[^]*Nothing matches`),
  )
  const none = await browser.console.get(`${list}&ask=client.purge`)
  assert.match(none.body, /Nothing matches\./)
  assert.doesNotMatch(none.body, /name="task" value="client\.purge"[^]*type="submit"[^>]*>Delete all/)
  assert.match((await browser.console.get('/console/clients?source=registration')).body, /Client \d+/)
})

test('lists are filtered as the API filters them, and the audit is saved by the day, one event a line', async () => {
  const { context, clock } = stage.server
  await perform(context, 'user.create', { email: 'grace@acme.test', name: 'Grace' })
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const saved = await browser.console.get(`/console/audit?format=ndjson&event=user.&since=${today}&until=${today}`)
  assert.equal(saved.headers['content-type'], 'application/x-ndjson')
  assert.match(String(saved.headers['content-disposition']), /^attachment; filename="audit-\d{4}-\d\d-\d\d\.ndjson"$/)
  const lines = saved.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Members)
  assert.ok(lines.length > 0 && lines.every(({ event }) => String(event).startsWith('user.')))
  assert.equal((await browser.console.get('/console/audit?format=ndjson&since=2020-01-01&until=2020-01-02')).body, '')
  const wrong = await browser.console.get('/console/audit?client_id=ada')
  assert.deepEqual([wrong.statusCode, /There is no client named &quot;ada&quot;/.test(wrong.body)], [200, true])
  assert.match(
    (await browser.console.get('/console/clients?text=zzz')).body,
    /Nothing matches[^]*href="\/console\/found\?text=zzz">Search everywhere/,
  )
  await perform(context, 'client.create', { client_name: 'Editor', redirect_uris: ['com.example.editor:/callback'] })
  assert.match((await browser.console.get('/console/clients?host=com.example.editor%3A')).body, /<bdi>Editor/)
  for (const [prefix, ids] of [
    ['ADA@', 'ada@acme.test'],
    ['\uff41da', 'ada@acme.test'],
    ['gr', 'grace@acme.test'],
    ['acme', ''],
    ['\u3000', ''],
  ] as const) {
    const { users } = await perform<{ users: readonly Members[] }>(context, 'user.list', { email_prefix: prefix })
    assert.equal(users.map(({ email }) => email).join(), ids, prefix)
  }
  const one = await browser.console.get('/console/users?text=ADA%40')
  assert.match(one.body, /ada@acme\.test/)
  assert.doesNotMatch(one.body, /grace@acme\.test/)
  await perform(context, 'client.create', { client_name: 'Straße & Co' })
  assert.match((await browser.console.get('/console/clients?text=STRASSE')).body, /Nothing matches/)
  assert.match((await browser.console.get('/console/clients?text=%26%20co')).body, /Straße &amp; Co/)
})

test('CON-12: a page reads at most four records for each row beside its lists, and twelve for itself', async () => {
  const { context } = stage.server
  await perform(context, 'group.create', { group_id: 'dev' })
  const { user_id } = await perform(context, 'user.create', { email: stage.anEmail() })
  await perform(context, 'group.add-member', { group_id: 'dev', user_id })
  const { actingAs, store } = context
  let count = 0
  const counting = <Store extends object>(counted: Store): Store =>
    new Proxy(counted, {
      get(target, name) {
        const read = Reflect.get(target, name) as (...keys: readonly unknown[]) => unknown
        if (!String(name).startsWith('find')) return read
        return (...keys: readonly unknown[]) => {
          count += 1
          return read.call(target, ...keys)
        }
      },
    })
  Object.assign(context, { store: counting(store), actingAs: (actor: string) => counting(actingAs(actor, undefined)) })
  try {
    for (const path of ['', '/clients', '/users', '/groups', '/groups/dev', '/grants', '/audit']) {
      count = 0
      const { body } = await browser.console.get(`/console${path}`)
      const rows = body.match(/ data-row/g)?.length ?? 0
      assert.ok(rows > 0 && count > 0 && count <= 4 * rows + 12, `${path}: ${count} reads for ${rows} rows`)
    }
  } finally {
    Object.assign(context, { store, actingAs })
  }
})

test('CON-33: names that every object has, days that do not exist and screens without lines are answered as such', async () => {
  const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
  for (const name of inherited) {
    const asked = await browser.console.get(`/console/clients?ask=client.revoke-tokens&row=${name}&row=x`)
    assert.deepEqual([asked.statusCode, asked.body.includes(name)], [200, true], name)
    assert.equal((await browser.console.get(`/console/clients?ask=client.revoke-tokens&row=${name}`)).statusCode, 200)
  }
  const done = await browser.send('/console/clients', 'client.disable', inherited)
  assert.deepEqual([done.statusCode, /Nothing was changed\.[^]*constructor/.test(done.body)], [200, true])
  for (const path of ['', '/clients', '/users', '/grants'])
    assert.equal((await browser.console.get(`/console${path}?format=ndjson`)).statusCode, 404, path)
  for (const day of ['2026-02-31', '2026-04-31', '2026-13-01', '2025-02-29'])
    assert.equal((await browser.console.get(`/console/audit?since=${day}`)).statusCode, 422, day)
  assert.equal((await browser.console.get('/console/audit?since=2024-02-29')).statusCode, 200)
})

test('a store that hangs is said within three seconds, and a page has at most 64 kB', async (t) => {
  await makeClients(45)
  const full = await browser.console.get('/console/clients')
  const files = [...full.body.matchAll(/\/console\/a\/[0-9a-f]{16}\.(?:css|js)/g)].map(([path]) => path)
  assert.ok(Buffer.byteLength(full.body) < 64_000, `${Buffer.byteLength(full.body)} bytes`)
  const bodies = await Promise.all(files.map((url) => stage.server.injectAdmin({ method: 'GET', url })))
  const [style = 0, script = 0, ...others] = bodies.map(({ body }) => body.length)
  assert.ok(others.length === 0 && style <= 20_000 && script < 6000, `${style}, ${script}`)
  // What a browser loads once.
  const packed = gzipSync(bodies[0]?.body ?? '').length
  assert.ok(packed <= 5200, `${packed} bytes`)
  const { context } = stage.server
  const { actingAs } = context
  const asked = { isSeen: false }
  const listClients = () => {
    asked.isSeen = true
    return new Promise<never>(() => undefined)
  }
  Object.assign(context, { actingAs: (actor: string) => ({ ...actingAs(actor, undefined), listClients }) })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answer = browser.console.get('/console/clients')
  // The page waits for the gap to the one before.
  while (!asked.isSeen) {
    t.mock.timers.tick(10)
    await nextTurn()
  }
  t.mock.timers.tick(3000)
  const late = await answer
  Object.assign(context, { actingAs })
  assert.deepEqual([late.statusCode, late.headers['retry-after']], [503, '1'])
  assert.match(late.body, /The store does not answer/)
})
