import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createInitialToken } from '../../src/admin/client/initial-token.ts'
import { DEFAULT_TEMPLATE } from '../../src/protocol/client/registration-template.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { ConsoleBrowser, giveRole, leadsTo, openConsole } from '../../tools/console-browser.ts'
import { openAdminServer, type AdminServer, type PeopledOrganization } from '../support/admin-server.ts'
import { aClient, aMembership, anInstallation, anOrganization, aUser } from '../support/records.ts'
import { perform, type Members, said, saidOf } from '../support/tasks.ts'

/** What the forms and lists for organizations, domains and initial access tokens do. */

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

const ends: (() => unknown)[] = []
let stage: AdminServer
let mine: PeopledOrganization
let browser: ConsoleBrowser
let home: string

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  mine = await stage.makePeopledOrganization()
  home = `/console/organizations/${mine.organization_id}`
  browser = await openConsole(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const read = (task: string, input: Members): Promise<Members> => perform(stage.server.context, task, input)

/** The page of a form, after the sign-in that it may ask for. */
async function ask(path: string) {
  const asked = await browser.console.get(path)
  return leadsTo(asked) === undefined ? asked : browser.arrive(await browser.comeBack(asked))
}

/** The page of an object, as an answer names it. */
const linkOf = (kind: string, object: string): string => `/console/${kind}/${encodeURIComponent(object)}`

/** The form beside what was done on the page before. */
function noticeOf<Answer extends { readonly body: string }>(page: Answer): Answer {
  const begin = page.body.indexOf('class="notice')
  return { ...page, body: page.body.slice(begin, page.body.indexOf('class="heading"', begin)) }
}

test('a field that names an organization, a client or a user takes what people call it, and only that one', async () => {
  const made = async (name: string) => String((await read('organization.create', { name }))['organization_id'])
  const [globex, , twin] = [await made('Globex'), await made('Globex Labs'), await made('Twin'), await made('twin')]
  await read('provider.create', {
    provider_id: 'globex',
    template: 'oidc',
    name: 'Globex',
    issuer: 'https://id.globex.example',
    client_id: 'grantor',
    client_secret: 'a-secret-of-the-provider',
    domains: ['globex.example'],
    organization_id: globex,
  })
  const credentials = await ask('/console/credentials?ask=admin.create')
  assert.match(credentials.body, /<span>Organization<[^]*The whole name or a domain works too\./)
  const named = async (organization: string, number: number) => {
    const page = number === 0 ? credentials : await browser.console.get('/console/credentials?ask=admin.create')
    return browser.press(page, 'admin.create', { name: `CI ${number}`, access: 'read', organization_id: organization })
  }
  const held = async () =>
    ((await read('admin.list', {})) as { credentials: Members[] }).credentials.map((one) => one['organization_id'])
  for (const [number, text] of [' globex ', 'Globex.example', globex].entries())
    assert.equal((await named(text, number)).statusCode, 200, text)
  assert.deepEqual(await held(), [globex, globex, globex])
  for (const [text, sentence] of [
    ['Glob', 'There is no organization with the id or the name &quot;Glob&quot;'],
    ['TWIN', `2 organizations have the name &quot;TWIN&quot;\\. Give the id of one: [^<]*${twin ?? ''}`],
    ['initech.example', 'There is no organization with the id or the name'],
  ] as const) {
    const wrong = await named(text, 9)
    assert.equal(wrong.statusCode, 422)
    assert.match(
      wrong.body,
      new RegExp(`name="organization_id" value="${text}"[^]*id="error-organization_id">${sentence}`),
    )
  }
  assert.deepEqual(await held(), [globex, globex, globex])

  const client = await read('client.show', { client_id: mine.client_id })
  const install = await ask(`${home}/installations?ask=installation.install`)
  const installed = await browser.press(install, 'installation.install', {
    client_id: String(client['client_name']),
    scope: '',
  })
  assert.match(installed.body, new RegExp(said('installation.install')))
  await read('installation.remove', { organization_id: mine.organization_id, client_id: mine.client_id })
  const { email, id } = await stage.makeUser()
  await read('user.update', { user_id: id, name: 'Only One' })
  const add = await browser.console.get(`${home}/members?ask=member.add`)
  assert.match(
    (await browser.press(add, 'member.add', { user_id: 'Only One' })).body,
    /error-user_id">There is no user [^<]*Several people may have one name/,
  )
  assert.match(
    (await browser.press(add, 'member.add', { user_id: email.toUpperCase() })).body,
    new RegExp(said('member.add', { user_id: email })),
  )
})

test('CON-34: neither field takes the address of an account that a stranger may have, and the id it does', async () => {
  const { store, clock } = stage.server.context
  const now = clock()
  const user = aUser({ emailVerifiedAt: undefined, firstSignedInAt: now, createdAt: now, notBefore: now })
  await store.createUser(user)
  const isMember = async () =>
    (await store.findMembership({ userId: user.id, organizationId: mine.organization_id })) !== undefined
  const add = await browser.console.get(`${home}/members?ask=member.add`)
  for (const field of ['user_id', 'email']) {
    const refused = await browser.press(add, 'member.add', { [field]: user.email ?? '' })
    assert.match(refused.body, new RegExp(`never verified[^]*give the id instead of the address: ${user.id}`), field)
    assert.equal(await isMember(), false, field)
  }
  // A filter only shows.
  assert.match((await browser.console.get(`/console/audit?user_id=${user.email}`)).body, new RegExp(user.id))
  await browser.press(add, 'member.add', { user_id: user.id })
  assert.equal(await isMember(), true)
})

test('a search finds organizations, APIs and scopes, by names of theirs and by a domain, and says where it goes on', async () => {
  const api = await stage.makeApi()
  await read('api.update', {
    resource: api,
    name: 'Ledger',
    scopes: [{ name: 'ledger:post', sentence: 'Post entries', granted_to: 'users' }],
  })
  const leads = async (q: string, section = 'overview') =>
    (await browser.console.get(`/console/search?${new URLSearchParams({ q, in: section }).toString()}`)).headers
      .location ?? ''
  const page = linkOf('apis', api)
  for (const [text, section, to] of [
    [api, undefined, page],
    ['ledger:post', undefined, page],
    ['Globex.Example', undefined, /^\/console\/organizations\/gor_/],
    ['globex.example', 'clients', '/console/found?text=globex.example'],
    ['Globex', undefined, '/console/found?text=Globex'],
    ['post entries', 'apis', '/console/found?text=post+entries'],
    ['ADA@acme.test', undefined, /^\/console\/users\/gus_/],
  ] as const) {
    const location = await leads(text, section)
    if (typeof to === 'string') assert.equal(location, to)
    else assert.match(location, to)
  }
  const found = async (text: string) => (await browser.console.get(await leads(text))).body
  assert.match(
    await found('globex'),
    /<h2>Organizations<[^]*<b>Globex<\/b>(<\/bdi>[^]*<b>Globex<\/b> Labs<| Labs<[^]*<b>Globex<\/b><)/,
  )
  assert.match(await found('LEDGER'), new RegExp(`href="${page}"[^]*<b>Ledger</b><[^]*<code>ledger:post<`))
  assert.match(
    await found('No such name'),
    /None of the users, groups, access rules, organizations, clients, APIs and providers has <bdi>“No such name”<[^]*Searched: all users, groups, access rules, organizations, clients, APIs and providers\./,
  )
  // N1: any case, and any part of a name or an address.
  const { user_id } = await read('user.create', {
    email: 'g.weber@globex.test',
    name: 'Greta Weber',
  })
  for (const text of ['weber', 'Weber', 'WEBER', 'globex.test', 'GLOBEX.TEST', 'eta we', 'wéber gre', 'g.web'])
    assert.match(await found(text), new RegExp(`href="${linkOf('users', String(user_id))}"`), text)
  assert.match(
    await found('g.'),
    /Searched: all groups, access rules, organizations, clients, APIs and providers; users by the beginnings of their addresses, because no word has three letters\./,
  )
  const rows = async (path: string) => (await browser.console.get(path)).body.match(/<tr data-row/g)?.length ?? 0
  assert.deepEqual(
    await Promise.all(['/console/organizations?name=globex', '/console/apis?name=entries'].map(rows)),
    [2, 1],
  )
})

test('CON-09: a domain is blocked with a way back, which keeps its note and removes what was new', async () => {
  const verdicts = async () => {
    const { domains } = (await read('domain.list', {})) as { domains: Members[] }
    return Object.fromEntries(domains.map((one) => [one['pattern'], [one['verdict'], one['note']]]))
  }
  const set = async (task: string, fields: Readonly<Record<string, string>>) => {
    // Whom the rule is about is shown before it is set.
    const chosen = task === 'domain.block' ? { pattern: fields['pattern'] ?? '' } : {}
    const query = new URLSearchParams({ ask: task, ...chosen })
    return browser.press(await browser.console.get(`/console/domains/new?${query.toString()}`), task, fields)
  }
  const blocked = await set('domain.block', { pattern: 'Evil.Example', note: HOSTILE })
  assert.match(
    blocked.body,
    new RegExp(`${said('domain.block', { 'domains.pattern': 'evil\\.example' })}[^]*<h1>Domains`),
  )
  assert.doesNotMatch(blocked.body, /<script>alert|<img src=x/)
  const asked = await browser.press(noticeOf(blocked), 'domain.forget')
  const removal = leadsTo(asked) === undefined ? asked : await browser.arrive(await browser.comeBack(asked))
  assert.match(removal.body, /Remove: <bdi>evil\.example<\/bdi>/)
  assert.ok('evil.example' in (await verdicts()))
  await browser.press(removal, 'domain.forget')
  assert.deepEqual(await verdicts(), {})

  await set('domain.trust', { pattern: 'one.example', note: 'Ours' })
  const turned = await set('domain.block', { pattern: 'one.example', note: 'Phishing' })
  await browser.press(noticeOf(turned), 'domain.trust')
  assert.deepEqual(await verdicts(), { 'one.example': ['trusted', 'Phishing'] })
  assert.match((await set('domain.trust', { known: 'true' })).body, /claude\.ai[^]*zed\.dev/)
  assert.match((await set('domain.trust', { pattern: 'one.example', known: 'true' })).body, /Give exactly one of/)
  await read('domain.block', { pattern: 'two.example' })
  const bulk = await browser.send('/console/domains', 'domain.block', ['one.example', 'two.example', 'new.example'])
  assert.match(
    bulk.body,
    new RegExp(`${saidOf('domain.block', '1', 1)}[^]*new\\.example[^]*The row is no longer there`),
  )
  const undone = await browser.press(noticeOf(bulk), 'domain.trust')
  assert.match(undone.body, new RegExp(said('domain.trust', { 'domains.pattern': 'one\\.example' })))
  const now = await verdicts()
  assert.deepEqual(
    [now['one.example'], now['two.example'], now['new.example']],
    [['trusted', 'Phishing'], ['blocked', null], undefined],
  )
})

test('before a domain is blocked the page names the clients that it is about, also of all hosts below one', async () => {
  await read('client.create', { client_name: 'Board', redirect_uris: ['https://app.board.example/callback'] })
  const block = async (pattern: string) =>
    (await browser.console.get(`/console/domains/new?ask=domain.block&pattern=${encodeURIComponent(pattern)}`)).body
  for (const pattern of ['*.board.example', 'app.board.example'])
    assert.match(await block(pattern), /about now: <strong>\s*1<[^]*>Board</, pattern)
  for (const pattern of ['*.app.board.example', 'board.example', 'https://app.board.example/client.json'])
    assert.match(await block(pattern), /about now: <strong>\s*0</, pattern)
  const wrong = await block('no domain')
  assert.match(wrong, /value="no domain"[^]*This is neither a host/)
  assert.doesNotMatch(wrong, /name="note"/)
})

test('CON-20: the console does not block the domain that people reach it at, alone or among chosen rows', async (t) => {
  const host = '127.0.0.1:3001'
  const there = await openAdminServer(t, { GRANTOR_CONSOLE_URL: `http://${host}` })
  const { server } = there
  await giveRole(server)
  const own = new ConsoleBrowser({
    inject: server.inject,
    injectAdmin: (request) => server.injectAdmin({ ...request, headers: { ...request.headers, host } }),
  })
  const asked = await own.open('/console/domains/new?ask=domain.block&pattern=127.0.0.1')
  const refused = await own.press(asked, 'domain.block', { pattern: '127.0.0.1' })
  assert.equal(refused.statusCode, 409)
  assert.match(refused.body, /The console is at 127\.0\.0\.1, so no person could sign in to it[^]*grantor domain block/)
  for (const pattern of ['127.0.0.1', 'other.example']) await perform(server.context, 'domain.trust', { pattern })
  const both = await own.send('/console/domains', 'domain.block', ['127.0.0.1', 'other.example'])
  assert.match(both.body, new RegExp(`${saidOf('domain.block', '1 of 2')}[^]*The console is at`))
})

test('an initial access token is shown with the limits that its fields give, and revoked', async () => {
  const path = '/console/initial-tokens'
  const asked = await ask(`${path}?ask=initial-token.create`)
  assert.match(asked.body, /name="template\.trust_level"[^]*name="template\.redirect_hosts"/)
  const wrong = await browser.press(asked, 'initial-token.create', { name: 'CI', uses: '0', 'template.scope': '"' })
  assert.match(wrong.body, /id="error-uses"[^]*id="error-template\.scope"/)
  const first = await browser.press(wrong, 'initial-token.create', {
    name: HOSTILE,
    uses: '3',
    days: '2',
    'template.redirect_hosts': 'app.example\r\n*.board.example',
  })
  assert.match(first.body, new RegExp(said('initial-token.create', { uses: '3' })))
  const { initial_tokens: tokens } = (await read('initial-token.list', {})) as { initial_tokens: Members[] }
  assert.equal(tokens.length, 1)
  assert.deepEqual(tokens[0]?.['template'], {
    trust_level: 'unverified',
    scope: null,
    redirect_hosts: ['app.example', '*.board.example'],
    unused: (tokens[0]?.['template'] as Members | undefined)?.['unused'],
  })
  const shown = await browser.console.get(path)
  assert.doesNotMatch(shown.body, /<script>alert|<img src=x/)
  assert.match(shown.body, /3 of 3/)
  const id = String(tokens[0]?.['initial_token_id'])
  const revoked = await browser.send(path, 'initial-token.revoke', [id], { asked: '1' })
  assert.match(revoked.body, new RegExp(`${said('initial-token.revoke')}[^]*Revoked</span>`))
  const repeated = await browser.send(path, 'initial-token.revoke', [id], { asked: '1' }).catch(() => undefined)
  assert.ok(repeated === undefined || /Already revoked/.test(repeated.body))
})

test('a page of 50 rows of organizations, members, installations, domains or tokens has at most 64 kB', async () => {
  const { context } = stage.server
  const { store, clock } = context
  const now = clock()
  const since = { organizationId: mine.organization_id, createdAt: now, notBefore: now }
  for (let index = 0; index < 51; index += 1) {
    const email = `member-${index}@a-rather-long-name-of-a-host.acme.test`
    const user = aUser({ email, name: `Member ${index}` })
    await store.createUser(user)
    await store.addMember({ ...aMembership({ ...since, userId: user.id }), mails: [] })
    const client = aClient({}, now)
    await store.registerClient(client)
    await store.install(anInstallation({ ...since, clientId: client.id, scope: 'projects:read builds:start' as Scope }))
    await store.createOrganization(anOrganization({ name: `Customer ${index} with a rather long name` }, now))
    const host = `host-${index}.with-a-rather-long-name.example`
    await store.setDomainRule({ pattern: host, verdict: 'blocked', note: 'Phishing', changedAt: now })
    await createInitialToken(context, { name: `Deployments ${index}`, uses: 1, days: 1, template: DEFAULT_TEMPLATE })
  }
  const lists = [`${home}/members`, `${home}/installations`, home]
  for (const path of ['/console/organizations', '/console/domains', '/console/initial-tokens', ...lists]) {
    const { body } = await browser.console.get(path)
    assert.ok((body.match(/<tr data-row/g)?.length ?? 0) >= (path === home ? 10 : 50), path)
    assert.ok(Buffer.byteLength(body) < 64_000, `${path} has ${Buffer.byteLength(body)} bytes.`)
  }
})
