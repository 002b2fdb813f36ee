import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hiddenFields, locationOf, requestToken } from '../../tools/flow.ts'
import { searchAddress } from '../../src/console/search.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { ConsoleBrowser, formOf, giveRole, leadsTo } from '../support/console/console-browser.ts'
import { perform, type Members } from '../support/tasks.ts'

/** What the forms and lists of the console do. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open()
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Sends a form of a page with rows. */
async function send(
  path: string,
  task: string,
  subjects: readonly string[],
  more: Readonly<Record<string, string>> = {},
) {
  const page = await browser.console.get(path)
  const { csrf = '' } = hiddenFields({ body: formOf(page, task) })
  const form = new URLSearchParams({ csrf, task, ...more })
  for (const subject of subjects) form.append('subject', subject)
  const cookie = [...browser.console.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const answer = await stage.server.injectAdmin({ method: 'POST', url: path, headers, payload: form.toString() })
  return answer.statusCode === 303 ? browser.console.get(locationOf(answer)) : answer
}

const show = (id: string): Promise<Members> => perform(stage.server.context, 'client.show', { client_id: id })

async function makeClients(count: number): Promise<readonly string[]> {
  const made: string[] = []
  while (made.length < count) made.push((await stage.makeClient()).client_id)
  return made
}

test('CON-09: each row of a form has its own answer, and undo changes what the form changed', async () => {
  const [one = '', two = '', gone = '', kept = ''] = await makeClients(4)
  await perform(stage.server.context, 'client.delete', { client_id: gone })
  const done = await send('/console/clients', 'client.verify', [one, gone, two, one])
  assert.match(done.body, /Verified: 2 of 3\./)
  assert.match(done.body, new RegExp(`There is no client ${gone}`))
  assert.deepEqual([(await show(one))['trust_level'], (await show(two))['trust_level']], ['verified', 'verified'])
  const undone = formOf({ body: done.body.slice(done.body.indexOf('class="notice')) }, 'client.unverify')
  assert.deepEqual(
    [...undone.matchAll(/name="subject" value="([^"]+)"/g)].map(([, id]) => id),
    [one, two],
  )
  const { events } = await perform<{ events: readonly Members[] }>(stage.server.context, 'audit.list', {
    event: 'client.verified',
    limit: 2,
  })
  assert.deepEqual(
    events.map((event) => String(event['actor']).slice(0, 4)),
    ['gus_', 'gus_'],
    'The audit names the user.',
  )
  assert.match((await send('/console/clients', 'client.unverify', [one, two])).body, /No longer verified: 2 of 2/)
  assert.equal((await show(one))['trust_level'], 'unverified')

  const many = Array.from({ length: 51 }, (_, index) => `${kept.slice(0, -2)}${String(index).padStart(2, '0')}`)
  const refused = await send('/console/clients', 'client.disable', many)
  assert.deepEqual([refused.statusCode, /At most 50 rows at a time/.test(refused.body)], [422, true])
  const none = await send('/console/clients', 'client.disable', [])
  assert.deepEqual([none.statusCode, /Choose a row/.test(none.body)], [422, true])
  const operators = await perform(stage.server.context, 'client.create', { client_name: 'Board' })
  const conflict = await send('/console/clients', 'client.unverify', [String(operators['client_id'])])
  assert.deepEqual(
    [conflict.statusCode, /created by an operator, so it is always verified/.test(conflict.body)],
    [409, true],
  )
})

test('what cannot be undone needs a sign-in of the last five minutes, a confirmation, and from 11 rows on the number', async () => {
  const clients = await makeClients(11)
  stage.server.clock.advance(5 * 60 * 1000 + 1)
  const leaving = await send('/console/clients?source=registration', 'client.delete', clients)
  const to = new URL(leadsTo(leaving) ?? '')
  assert.deepEqual([to.pathname, to.searchParams.get('max_age')], ['/v2/oauth/authorize', '0'])
  await show(clients[0] ?? '')
  const asked = await browser.arrive(await browser.comeBack(leaving))
  assert.match(asked.body, /Delete: 11 rows[^]*Type 11 to confirm/)
  const list = '/console/clients?source=registration'
  const wrong = await send(list, 'client.delete', clients, { confirmed: '1', typed: '12' })
  assert.deepEqual([wrong.statusCode, /This is not 11\./.test(wrong.body)], [422, true])
  const done = await send(list, 'client.delete', clients, { confirmed: '1', typed: '11' })
  assert.match(done.body, /Deleted: 11 of 11\./)
  await assert.rejects(show(clients[0] ?? ''), /There is no client/)
  // The confirmation alone is not enough.
  const [last = ''] = await makeClients(1)
  stage.server.clock.advance(5 * 60 * 1000 + 1)
  assert.notEqual(leadsTo(await send(list, 'client.delete', [last], { confirmed: '1' })), undefined)
  await show(last)
  await browser.open()
})

test('a page of an object does what its buttons say, and only what fits its state', async () => {
  const [id = ''] = await makeClients(1)
  const path = `/console/clients/${id}`
  const page = await browser.console.get(path)
  assert.doesNotMatch(page.body, /value="client\.(unverify|enable)"/)
  const disabled = await browser.press(page, 'client.disable')
  assert.match(disabled.body, /Disabled\.[^]*Undo/)
  assert.notEqual((await show(id))['disabled_at'], null)
  assert.match((await browser.press(disabled, 'client.enable')).body, /Enabled\./)
  assert.equal((await browser.console.get(`/console/clients/gci_${'0'.repeat(34)}`)).statusCode, 404)
  const consent = await browser.console.get(`${path}/consent`)
  assert.match(consent.body, /wants to use your account[^]*Unverified/)
  assert.match(
    String(consent.headers['content-security-policy']),
    /default-src 'none';.*frame-ancestors 'none'; sandbox$/,
  )
  const deleted = await browser.press(
    await browser.arrive(await browser.comeBack(await browser.press(page, 'client.delete'))),
    'client.delete',
  )
  assert.match(deleted.body, /Deleted\.[^]*<h1>Clients/)
  await assert.rejects(show(id), /There is no client/)
})

test('CON-10: a link is shown once: the form again creates no other one, and neither the log nor an address has it', async () => {
  const { id } = await stage.makeUser()
  await browser.open()
  const path = `/console/users/${id}?ask=user.create-link`
  let asked = await browser.console.get(path)
  if (leadsTo(asked) !== undefined) asked = await browser.arrive(await browser.comeBack(asked))
  const form = { ...hiddenFields({ body: formOf(asked, 'user.create-link') }) }
  const first = await browser.console.post(`/console/users/${id}`, form)
  const link = /http:\/\/localhost:3000\/account\/link[^<"\s]*/.exec(first.body)?.[0] ?? ''
  assert.deepEqual(
    [first.statusCode, first.headers['cache-control'], first.headers.location],
    [200, 'no-store', undefined],
  )
  assert.notEqual(link, '')
  const [made] = await stage.server.context.store.listLinks(id)
  const again = await browser.console.post(`/console/users/${id}`, form)
  assert.deepEqual(
    [again.statusCode, /This was done already/.test(again.body), again.body.includes(link)],
    [409, true, false],
  )
  assert.deepEqual(await stage.server.context.store.listLinks(id), [made])
  assert.ok(!stage.server.log().includes(link.slice(-40)))
  assert.equal((await browser.console.post(`/console/users/${id}`, { ...form, once: '' })).statusCode, 409)
})

test('a user is created by the schema of the task: its faults are beside the fields, with what was typed', async () => {
  const asked = await browser.console.get('/console/users?ask=user.create')
  assert.match(asked.body, /The address that the user signs in with\./)
  const wrong = await browser.press(asked, 'user.create', { email: 'no address', name: 'Grace' })
  assert.equal(wrong.statusCode, 422)
  assert.match(
    wrong.body,
    /name="email"[^>]*value="no address"[^>]*aria-invalid="true"[^]*This is not an e-mail address\.[^]*value="Grace"/,
  )
  const taken = await browser.press(asked, 'user.create', { email: 'ada@acme.test' })
  assert.deepEqual([taken.statusCode, /already a user with the address/.test(taken.body)], [409, true])
  const made = await browser.press(asked, 'user.create', { email: 'grace@acme.test', name: 'Grace' })
  assert.match(made.body, /Created\.[^]*grace@acme\.test/)
})

test('access is taken back: a grant, a session, and the authenticator app of a user', async () => {
  const client = await stage.makeClient()
  const tokens = await stage.makeTokens()
  const ada = await stage.server.context.store.findUserByEmail('ada@acme.test')
  const path = `/console/users/${ada?.id ?? ''}`
  const page = await browser.console.get(path)
  assert.match(page.body, /Yes[^]*by[^]*password/)
  const grants = await perform<{ grants: readonly Members[] }>(stage.server.context, 'grant.list', {
    user_id: ada?.id,
    limit: 1,
  })
  const grant = String(grants.grants[0]?.['grant_id'])
  const asked = await send(path, 'grant.revoke', [grant])
  assert.match(asked.body, /Revoke: [^]*ada@acme\.test/)
  assert.match((await browser.press(asked, 'grant.revoke')).body, /Revoked\./)
  const shown = await browser.console.get(`/console/grants/${grant}`)
  assert.match(shown.body, /Revoked<\/span>/)
  const refreshed = await requestToken(stage.server, client, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token ?? '',
  })
  assert.equal(refreshed.statusCode, 400)
})

test('a search leads to the object, or to the list that can find it', () => {
  const id = '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'
  const rows: readonly (readonly [text: string, section: string | undefined, address: string])[] = [
    [`gus_${id}`, 'clients', `/console/users/gus_${id}`],
    [` gci_${id} `, undefined, `/console/clients/gci_${id}`],
    [id, 'audit', `/console/grants/${id}`],
    ['ada@acme.test', 'clients', '/console/users?email_prefix=ada%40acme.test'],
    ['claude.ai', 'users', '/console/users?email_prefix=claude.ai'],
    ['claude.ai', 'clients', '/console/clients?host=claude.ai'],
    ['127.0.0.1', undefined, '/console/clients?host=127.0.0.1'],
    ['Cursor', 'overview', '/console/clients?name=Cursor'],
    ['Ada Love', 'users', '/console/users?name=Ada+Love'],
    ['', 'users', '/console'],
    ['"><script>', undefined, '/console/clients?name=%22%3E%3Cscript%3E'],
  ]
  for (const [text, section, address] of rows) assert.equal(searchAddress(text, section), address, text)
  assert.match(searchAddress('https://app.example/client.json', undefined), /^\/console\/clients\/gcd_/)
})

test('lists are filtered as the API filters them, and the audit is saved by the day, one event a line', async () => {
  const { context, clock } = stage.server
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const saved = await browser.console.get(`/console/audit?format=ndjson&event=user.&since=${today}&until=${today}`)
  assert.equal(saved.headers['content-type'], 'application/x-ndjson')
  assert.match(String(saved.headers['content-disposition']), /^attachment; filename="audit\.ndjson"$/)
  const lines = saved.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Members)
  assert.ok(lines.length > 0 && lines.every(({ event }) => String(event).startsWith('user.')))
  assert.equal((await browser.console.get('/console/audit?format=ndjson&since=2020-01-01&until=2020-01-02')).body, '')
  const wrong = await browser.console.get('/console/audit?client_id=.ada')
  assert.deepEqual([wrong.statusCode, /This is not a client id/.test(wrong.body)], [422, true])
  assert.match((await browser.console.get('/console/clients?name=zzz')).body, /Nothing matches/)
  const one = await browser.console.get('/console/users?email_prefix=ADA%40')
  assert.match(one.body, /ada@acme\.test/)
  await perform(context, 'client.create', { client_name: 'Straße & Co' })
  assert.match((await browser.console.get('/console/clients?name=STRASSE')).body, /Nothing matches/)
  assert.match((await browser.console.get('/console/clients?name=%26%20co')).body, /Straße &amp; Co/)
})

test('a store that hangs is said within three seconds, and a page has at most 64 kB', async (t) => {
  await makeClients(45)
  const full = await browser.console.get('/console/clients')
  const files = [...full.body.matchAll(/\/console\/a\/[0-9a-f]{16}\.(?:css|js)/g)].map(([path]) => path)
  assert.ok(Buffer.byteLength(full.body) < 64_000, `${Buffer.byteLength(full.body)} bytes`)
  const sizes = await Promise.all(
    files.map(async (url) => (await stage.server.injectAdmin({ method: 'GET', url })).body.length),
  )
  assert.ok(sizes.length === 2 && (sizes[0] ?? 0) < 16_000 && (sizes[1] ?? 0) < 6000, sizes.join())
  const { context } = stage.server
  const { actingAs } = context
  let isAsked: (() => void) | undefined
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const listClients = () => {
    isAsked?.()
    return new Promise<never>(() => undefined)
  }
  Object.assign(context, { actingAs: (actor: string) => ({ ...actingAs(actor), listClients }) })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answer = browser.console.get('/console/clients')
  await asked
  t.mock.timers.tick(3000)
  const late = await answer
  Object.assign(context, { actingAs })
  assert.deepEqual([late.statusCode, late.headers['retry-after']], [503, '1'])
  assert.match(late.body, /The store does not answer/)
})
