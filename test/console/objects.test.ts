import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../src/admin/administrators.ts'
import { createLink } from '../../src/admin/user/link.ts'
import { roleMissing } from '../../src/console/messages.ts'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import type { GrantId, UserId } from '../../src/protocol/ids.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { locationOf, PlainBrowser, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { ConsoleBrowser, formOf, giveRole, leadsTo } from '../../tools/console-browser.ts'
import { anApi } from '../support/records.ts'
import { execute } from '../support/store/dump.ts'
import { perform, type Members, said, saidOf } from '../support/tasks.ts'

/** What the pages of clients, users and grants say, offer and refuse. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
let ada: UserId

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  ada = await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open()
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const show = (noun: 'client' | 'user', id: string): Promise<Members> =>
  perform(stage.server.context, `${noun}.show`, { [`${noun}_id`]: id })

test('CON-20: the console disables, deletes and revokes neither its own client nor the account of the person', async () => {
  const list = await browser.console.get('/console/clients')
  assert.doesNotMatch(list.body, new RegExp(`name="row" value="${CONSOLE_CLIENT_ID}"`))
  assert.doesNotMatch((await browser.console.get('/console/users')).body, new RegExp(`name="row" value="${ada}"`))
  const { client_id: other } = await stage.makeClient()
  const asked = { asked: '1' }
  for (const task of ['client.disable', 'client.revoke-tokens', 'client.delete']) {
    const refused = await browser.send('/console/clients', task, [CONSOLE_CLIENT_ID], asked)
    assert.equal(refused.statusCode, 409, task)
    assert.match(refused.body, /This is the client of the console[^]*grantor client /, task)
  }
  const both = await browser.send('/console/clients', 'client.disable', [CONSOLE_CLIENT_ID, other])
  assert.match(both.body, new RegExp(`${saidOf('client.disable', '1 of 2')}[^]*This is the client of the console`))
  for (const task of ['user.disable', 'user.delete']) {
    const { csrf } = { csrf: formOf(await browser.console.get(`/console/users/${ada}`), 'user.revoke-tokens') }
    const value = /name="csrf" value="([^"]+)"/.exec(csrf)?.[1] ?? ''
    const refused = await browser.console.post(`/console/users/${ada}`, { csrf: value, task, ...asked })
    assert.deepEqual([refused.statusCode, /This is your own account/.test(refused.body)], [409, true], task)
  }
  assert.doesNotMatch(
    (await browser.console.get(`/console/users/${ada}`)).body,
    /value="user\.(disable|delete)"/,
    'The page does not offer it.',
  )
  assert.deepEqual(
    [(await show('client', CONSOLE_CLIENT_ID))['disabled_at'], (await show('user', ada))['disabled_at']],
    [null, null],
  )
})

test('a change names its object, keeps the filter of the list, and asks before it ends what cannot come back', async () => {
  const { client_id: client } = await stage.makeClient()
  const name = String((await show('client', client))['client_name'])
  const list = '/console/clients?source=registration'
  const deleted = await browser.send(list, 'client.delete', [client], { asked: '1' })
  assert.match(deleted.body, new RegExp(`${said('client.delete', { client_id: name })}[^]*Remove the filter Source`))
  const { id, email } = await stage.makeUser()
  const asked = await browser.press(await browser.console.get(`/console/users/${id}`), 'user.disable')
  assert.match(asked.body, new RegExp(`Disable: <bdi>${email}</bdi>[^]*signed out everywhere`))
  assert.equal((await show('user', id))['disabled_at'], null)
  assert.match((await browser.press(asked, 'user.disable')).body, new RegExp(said('user.disable', { user_id: email })))
})

test('CON-01: people with a role find the console, from the account and from a link; others do not learn of it', async () => {
  const { server } = stage
  const address = 'http://localhost:3001/console'
  assert.ok((await browser.issuer.get('/account')).body.includes(`href="${address}"`))
  const { id, email } = await stage.makeUser()
  const used = async (): Promise<string> => {
    const role = await server.context.store.findRole(id)
    const { address: link } = await createLink(server.context, id, {
      ...COMMAND_LINE,
      roleSince: role?.setAt,
    })
    const other = new PlainBrowser(server)
    const password = 'four other words, please'
    return (await other.submit(await other.get(link), { password, repeated: password })).body
  }
  assert.doesNotMatch(await used(), /3001/)
  await giveRole(server, 'read', email)
  assert.ok((await used()).includes(`href="${address}"`))
  await server.context.store.removeRole({ userId: id })
  const person = new PlainBrowser(server)
  const leaving = await person.get('/account')
  const page = await person.submit(await person.get(locationOf(leaving)), {
    email,
    password: 'four other words, please',
  })
  const account = await person.get(locationOf(page))
  assert.ok(account.body.includes(email))
  assert.doesNotMatch(account.body, /3001/)
  const root = (accept: string) => server.injectAdmin({ method: 'GET', url: '/', headers: { accept } })
  const opened = await root('text/html,application/xhtml+xml;q=0.9')
  assert.deepEqual([opened.statusCode, opened.headers.location], [303, '/console'])
  assert.equal((await root('application/json')).statusCode, 404)
})

test('filters take an address or a name where the task takes an id, and the actor is what the column Who shows', async () => {
  const { context } = stage.server
  const { email } = await stage.makeUser()
  await perform(context, 'client.create', { client_name: 'Report Tool' })
  const twin = await perform(context, 'client.create', { client_name: 'Report Tool Two' })
  await perform(context, 'client.verify', { client_id: twin['client_id'] })
  const of = async (query: string) => browser.console.get(`/console/${query}`)
  const grants = await of(`grants?user_id=ADA%40acme.test`)
  assert.match(grants.body, /Administration console/)
  assert.match((await of(`grants?user_id=${encodeURIComponent(email)}`)).body, /Nothing matches/)
  assert.match((await of('grants?client_id=Administration+console')).body, /ada@acme\.test/)
  const rows = (body: string): readonly string[] =>
    [...body.matchAll(/<li [^>]*data-row>[^]*?<\/li>/g)].map(([row]) => row)
  const own = await of('audit?actor=ada%40acme.test')
  assert.ok(rows(own.body).length > 2)
  for (const row of rows(own.body)) assert.match(row, new RegExp(`<a href="/console/audit\\?actor=${ada}">All by `))
  const others = rows((await of('audit?actor=command-line')).body)
  assert.ok(others.length > 0)
  for (const row of others) assert.doesNotMatch(row, new RegExp(`actor=${ada}`))
  assert.match((await of(`audit?user_id=${encodeURIComponent(email)}`)).body, /user\.created/)
  assert.equal(rows((await of('audit?client_id=report+tool+two')).body).length, 2)
  const several = await of('audit?client_id=report')
  assert.equal(several.statusCode, 200)
  assert.match(
    several.body,
    new RegExp(
      `<h1>Which one\\?<[^]*href="/console/audit\\?client_id=${String(twin['client_id'])}"\\s*><bdi>Report Tool Two<`,
    ),
  )
  const none = await of('audit?user_id=zzz')
  assert.deepEqual([none.statusCode, /There is no user named/.test(none.body)], [200, true])
})

test('what the newest events do not name may be an id of older ones, and is not said to be unknown', async () => {
  const { context } = stage.server
  const client_id = 'retired-tool'
  await perform(context, 'client.create', { client_id, client_name: 'Board' })
  await perform(context, 'client.delete', { client_id })
  const of = async (query: string) => browser.console.get(`/console/audit?${query}`)
  assert.match((await of(`client_id=${client_id}`)).body, /client\.deleted/)
  // More links than a search for one event reads.
  const prefix = (context.clock() + 1).toString(16).padStart(12, '0')
  execute(
    stage.server,
    `insert into audit_links (link_id, chain_id, sequence, recorded_at, previous_hash, events, link_hash)
     with recursive numbers (n) as (values (0) union all select n + 1 from numbers where n < 5100)
     select ? || printf('%08x', n) || 'AAAAAAAAAAAAAA', 'filler', n, ?, '', '[]', '' from numbers`,
    prefix,
    context.clock() + 1,
  )
  try {
    const listed = await of(`client_id=${client_id}`)
    assert.deepEqual([listed.statusCode, /There is no client/.test(listed.body)], [200, false])
    const [, next = ''] = /href="([^"]*before=[^"]*)"/.exec(listed.body) ?? []
    const older = await browser.console.get(`/console/audit${next.replaceAll('&amp;', '&').replace(/^[^?]*/, '')}`)
    assert.match(`${listed.body} ${older.body}`, /client\.deleted/)
    await perform(context, 'client.create', { client_name: 'Retired-tool of another one' })
    const unclear = await of(`client_id=${client_id}`)
    assert.deepEqual(
      [unclear.statusCode, /may be the id of what was deleted[^]*<bdi>Retired-tool of another one</.test(unclear.body)],
      [200, true],
    )
    assert.match((await of('client_id=Retired-tool+of+another+one')).body, /client\.created/)
  } finally {
    execute(stage.server, `delete from audit_links where chain_id = 'filler'`)
  }
})

test('a user page says until when wrong passwords lock the account, and until when a link is open', async () => {
  const { context } = stage.server
  const { id, email } = await stage.makeUser()
  const path = `/console/users/${id}`
  assert.match((await browser.console.get(path)).body, /answer good[^]*Can sign in<[^]*With the password/)
  const stranger = new PlainBrowser(stage.server)
  const form = await stranger.get(locationOf(await stranger.get('/account')))
  for (let attempt = 0; attempt < 10; attempt += 1) await stranger.submit(form, { email, password: `wrong ${attempt}` })
  const { body } = await browser.console.get(path)
  assert.match(
    body,
    /state caution">Locked, \d+ min<[^]*value="user\.unlock"[^]*<h2[^>]*>The password is refused for \d+ more minutes?<[^]*10 wrong passwords, until \d+ \w+ \d{4}, \d\d:\d\d UTC\. Browsers that the user\s+signed in with before still work[^]*There is no other way to sign in\./,
  )
  assert.doesNotMatch(body, /state good|Can sign in</)
  const made = await perform(context, 'user.create', { email: stage.anEmail() })
  const fresh = `/console/users/${String(made['user_id'])}`
  assert.match(
    (await browser.console.get(fresh)).body,
    /value="role\.set"[^]*Cannot sign in: there is no password, passkey or provider</,
  )
  await perform(context, 'user.create-link', { user_id: made['user_id'] })
  const open = (await browser.console.get(fresh)).body
  assert.match(
    open,
    />Invited<[^]*value="user\.create-link"[^>]*>\s*Create a link…[^]*Cannot sign in yet: the invitation is open until \d+ \w+ \d{4}, \d\d:\d\d UTC</,
  )
  assert.doesNotMatch(open, /has nothing to sign in with/)
})

test('an event has its second and all that the API lists of it, and a wrong filter is said to be one', async () => {
  const { context } = stage.server
  const minute = Date.parse('2026-11-19T18:40:00Z')
  context.report({
    event: 'tokens.issued',
    grantId: 'g'.repeat(34) as GrantId,
    details: { minute, network: '0:0:0:0::/64', scope: '' },
  })
  const { body } = await browser.console.get('/console/audit?event=tokens.issued')
  assert.match(body, /<time [^>]*>\d\d:\d\d:\d\d</)
  assert.match(
    body,
    /<summary><bdi>this computer<\/bdi> · tokens\.issued<[^]*grant <a href="\/console\/grants\/g+"[^]*"minute": 17/,
  )
  assert.match((await browser.console.get('/console/audit?since=x')).body, /<h1>This filter is wrong/)
})

test('the address of the console with a slash at its end leads to the console', async () => {
  const { statusCode, headers } = await browser.console.get('/console/')
  assert.deepEqual([statusCode, headers.location], [303, '/console'])
})

test('CON-33: a filter whose text every object has as a member is shown as it was typed', async () => {
  for (const text of ['constructor', '__proto__', 'toString']) {
    const wrong = await browser.console.get(`/console?period=${text}`)
    assert.deepEqual([wrong.statusCode, wrong.body.includes(`<bdi>${text}</bdi>`)], [422, true], text)
  }
})

test('CON-33: a command on a page quotes the id of a user for the shell', () => {
  const page = roleMissing('Ada', 'auth0|ada', '').main.toString()
  assert.match(page, /<code>grantor role set &#39;auth0\|ada&#39; --access (read|write)</)
})

test('CON-17: a person who may write is led to a second factor while the account has none', async () => {
  const page = async () => (await browser.console.get('/console')).body
  assert.match(await page(), /You sign in with one factor[^]*href="http:\/\/localhost:3000\/account\/security"/)
  await addApp(stage.server)
  await browser.open('/console')
  assert.doesNotMatch(await page(), /You sign in with one factor/)
  await perform(stage.server.context, 'user.reset-second-factor', { user_id: ada })
  await browser.open('/console')
})

test('sessions and grants from before a revocation of all tokens are listed as ended', async () => {
  const { context } = stage.server
  const { user_id: user, grant_id: grant } = await stage.makePeopledOrganization()
  const listed = async () => ({
    sessions: (await perform<{ sessions: readonly Members[] }>(context, 'session.list', { user_id: user })).sessions,
    grants: (await perform<{ grants: readonly Members[] }>(context, 'grant.list', { user_id: user })).grants,
  })
  const earlier = await listed()
  assert.deepEqual([earlier.sessions.length, earlier.grants[0]?.['inactive_reason']], [1, null])
  stage.server.clock.advance(1000)
  await perform(context, 'user.revoke-tokens', { user_id: user })
  const later = await listed()
  assert.deepEqual([later.sessions.length, later.grants[0]?.['inactive_reason']], [0, 'user'])
  const { body } = await browser.console.get(`/console/users/${user}`)
  assert.match(body, /The user is signed in nowhere[^]*All grants<[^]*No app may do anything for the user/)
  assert.doesNotMatch(body, /value="grant\.revoke"/)
  const shown = (await browser.console.get(`/console/grants/${grant}`)).body
  assert.match(shown, /Ended<\/span>/)
  assert.match(shown, new RegExp(`href="/console/users/${user}"><bdi>person-\\d+@acme\\.test<[^]*<code title="${user}`))
})

test('scopes are approved by boxes that have what is approved, an unknown one is refused, and undo restores', async () => {
  const { context } = stage.server
  await context.store.declareApi(
    anApi({
      resource: 'https://pay.acme.test' as Resource,
      scopes: [
        { name: 'read', sentence: 'Read', grantedTo: 'users' },
        { name: 'pay', sentence: 'Pay', grantedTo: 'approved-clients' },
        { name: 'refund', sentence: 'Refund', grantedTo: 'approved-clients' },
      ],
    }),
  )
  const { client_id: client } = await stage.makeClient()
  await perform(context, 'client.approve-scopes', { client_id: client, scope: 'pay' })
  const path = `/console/clients/${client}`
  const approved = async () => (await show('client', client))['approved_scope']
  let asked = await browser.console.get(`${path}?ask=client.approve-scopes`)
  if (leadsTo(asked) !== undefined) asked = await browser.arrive(await browser.comeBack(asked))
  assert.match(asked.body, /value="pay"\s+checked[^]*value="refund"\s+\/>/)
  assert.doesNotMatch(asked.body, /value="read"/)
  const wrong = await browser.press(asked, 'client.approve-scopes', { scope: 'admin' })
  assert.deepEqual(
    [wrong.statusCode, /admin is not among the choices/.test(wrong.body), await approved()],
    [422, true, 'pay'],
  )
  const done = await browser.press(asked, 'client.approve-scopes', { scope: 'refund' })
  assert.equal(await approved(), 'refund')
  const notice = { body: done.body.slice(done.body.indexOf('class="notice')) }
  await browser.press(notice as typeof done, 'client.approve-scopes', { scope: 'pay' })
  assert.equal(await approved(), 'pay')
  assert.match(formOf(notice, 'client.approve-scopes'), /name="scope" value="pay"/)
})

test('each page that names a client has its names by language', async () => {
  const input = { client_name: 'Board', 'client_name#de': 'Tafel', grant_types: ['client_credentials'] }
  const { client_id: client } = await perform<RegisteredClient>(stage.server.context, 'client.create', input)
  const { body } = await browser.console.get(`/console/clients/${client}?tab=settings`)
  assert.match(body, /<dt>Names by language<[^]*?<bdi>Tafel<\/bdi> <span class="muted">de</)
  const { client_id: tagged } = await registerClient(stage.server, {
    client_name: undefined,
    'client_name#de': 'Nur Tafel',
  })
  await perform(stage.server.context, 'organization.create', { organization_id: 'boards', name: 'Boards' })
  const installed = { organization_id: 'boards', client_id: client, scope: '' }
  await perform(stage.server.context, 'installation.install', installed)
  for (const page of [
    '',
    '/found?name=tafel',
    '/clients',
    `/clients/${client}`,
    `/clients?ask=client.verify&row=${client}`,
    '/organizations/boards/installations',
  ])
    assert.match((await browser.console.get(`/console${page}`)).body, /<bdi>Board \(de: Tafel\)<\/bdi>/, page)
  for (const page of ['/clients', `/clients/${tagged}`])
    assert.match((await browser.console.get(`/console${page}`)).body, /<bdi>Nur Tafel<\/bdi>/, page)
})

test('the page of a client says which rule for domains applies', async () => {
  const { context } = stage.server
  const { client_id: client } = await stage.makeClient()
  const page = async () => (await browser.console.get(`/console/clients/${client}?tab=settings`)).body
  assert.doesNotMatch(await page(), /<dt>Domain</)
  await perform(context, 'domain.block', { pattern: 'app.example', note: 'Phishing' })
  assert.match(
    await page(),
    /<dt>Domain<[^]*blocked by <a href="\/console\/domains"><code><bdi>app\.example<\/bdi><\/code><\/a> – <bdi>Phishing/,
  )
  await perform(context, 'domain.forget', { pattern: 'app.example' })
})
