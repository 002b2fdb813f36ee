import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ConsoleBrowser, giveRole, leadsTo, openConsole } from '../../tools/console-browser.ts'
import { redeem, registerClient, silentCodes } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer, type PeopledOrganization } from '../support/admin-server.ts'
import { perform, type Members, said } from '../support/tasks.ts'
import { pageSays } from '../texts/page-texts.ts'

/** What forms and pages say to a person who sees them for the first time. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let mine: PeopledOrganization
let browser: ConsoleBrowser
let home: string

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  mine = await stage.makePeopledOrganization()
  home = `/organizations/${mine.organization_id}`
  browser = await openConsole(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const run = (task: string, input: Members): Promise<Members> => perform(stage.server.context, task, input)
const open = (path: string) => browser.open(`/console${path}`)

/** What is in the label of a field. */
function labelOf(body: string, field: string): string {
  const [, label = ''] =
    new RegExp(`<span\\s*>((?:(?!</span)[^])*)</span\\s*>\\s*<(?:input|select)[^>]* name="${field}"`).exec(body) ?? []
  return label.replaceAll(/<[^>]*>/g, '').trim()
}

/** The values of a choice, on cards or in a list. The chosen one has a mark. */
function optionsOf(body: string, field: string): readonly string[] {
  const card = new RegExp(`<input\\s+type="radio"\\s+name="${field}"([^>]*)/>\\s*<span\\s*>([^<]*)<`, 'g')
  const cards = [...body.matchAll(card)].map(([, is = '', text = '']) => text + (is.includes('checked') ? '!' : ''))
  if (cards.length > 0) return cards
  const [, select = ''] = new RegExp(`<select[^>]* name="${field}"[^>]*>([^]*?)</select>`).exec(body) ?? []
  return [...select.matchAll(/<option([^>]*)>([^<]*)</g)].map(
    ([, is = '', text = '']) => text + (is.includes('selected') ? '!' : ''),
  )
}

test('a label says that a field is required, and a choice what it is when it is left alone', async () => {
  const { body: api } = await open('/apis?ask=api.create')
  assert.deepEqual(
    ['resource', 'name.de', 'scopes.0.sentence.de', 'scopes.0.granted_to', 'scopes.0.step_up.level'].map((field) =>
      labelOf(api, field),
    ),
    ['Resource required', 'German', 'Sentence: German', 'Granted to', 'Step up: level'],
  )
  assert.deepEqual(optionsOf(api, 'tokens.format'), ['jwt (default)!', 'opaque'])
  assert.deepEqual(optionsOf(api, 'scopes.0.step_up.level'), ['!', 'two factors', 'a passkey'])
  assert.match(api, /<option value="approved-clients" >only clients that you approve</)
  const { body: provider } = await open('/providers?ask=provider.create&template=entra&provider_id=acme')
  assert.deepEqual(optionsOf(provider, 'sign_up'), ['off (default)!', 'domains', 'anybody'])
  assert.deepEqual(optionsOf(provider, 'email_trust'), ['none', 'claim', 'domains (default)!'])
  assert.equal(labelOf(provider, 'client_id'), 'Client id required')
  const { body: role } = await open(`/users/${mine.user_id}?ask=role.set`)
  assert.deepEqual(optionsOf(role, 'access'), ['Read!', 'Support', 'Users', 'Write'])
  assert.match(role, />Write<small class="hint"\s*>Change everything, also roles/)
  assert.match(api, /role="radiogroup"\s+aria-describedby="hint-tokens\.algorithm"/)
  const { body: change } = await open(`/users/${mine.user_id}?ask=user.update`)
  assert.doesNotMatch(change, /absent/)
})

test('to install a client its name is enough, an empty scope is warned of, and the page has a whole request', async () => {
  const made = await run('client.create', { client_name: 'Billing', grant_types: ['client_credentials'] })
  const asked = await open(`${home}/installations/new?ask=installation.install`)
  assert.match(asked.body, new RegExp(`<option value="${String(made['client_id'])}">Billing<`))
  assert.doesNotMatch(asked.body, new RegExp(`<option value="${mine.client_id}"`))
  assert.equal(labelOf(asked.body, 'scope'), 'Scope')
  const fields = { client_id: String(made['client_id']), scope: '' }
  const done = await browser.press(asked, 'installation.install', fields)
  assert.match(
    done.body,
    new RegExp(
      `${said('installation.install', { client_id: 'Billing', scope: 'none' })}[^]*has no scope[^]*>How an installed client`,
    ),
  )
  assert.match(
    done.body,
    new RegExp(
      `-d grant_type=client_credentials --data-urlencode org_id=${mine.organization_id} --data-urlencode scope=`,
    ),
  )
  assert.match(done.body, /audience \(aud\) of the token is the issuer/)
  const { body } = await open(`/clients/${fields.client_id}`)
  assert.match(body, new RegExp(`<h2>Installations<[^]*href="/console${home}"><bdi>Acme<[^]*Active<`))
  assert.match(
    body,
    new RegExp(
      `-u ${fields.client_id}:… -d grant_type=client_credentials --data-urlencode org_id=${mine.organization_id}`,
    ),
  )
  assert.doesNotMatch(body, /authorization address/)
})

test('the page of a client has the request that it can make: for itself, with its way to authenticate, or by a browser', async () => {
  await stage.makeApi()
  const pageOf = async (metadata: Members, tab = '') => {
    const { client_id } = await run('client.create', { client_name: 'Tool', ...metadata })
    return (await open(`/clients/${String(client_id).replaceAll(':', '%3A')}${tab}`)).body
  }
  const alone = { grant_types: ['client_credentials'] }
  assert.match(
    await pageOf({ ...alone, client_id: 'ci:1' }),
    /-u ci%3A1:… -d grant_type=client_credentials --data-urlencode resource=/,
  )
  const posting = await pageOf({ ...alone, token_endpoint_auth_method: 'client_secret_post' })
  assert.match(posting, /--data-urlencode client_id=gci_\S+ -d client_secret=… -d grant_type=client_credentials/)
  assert.match(posting, /installed for no organization/)
  // A client without a user has what was approved for it, but no scope for which a user would authenticate again.
  const [wipe, read] = ['deploy:wipe', 'deploy:read']
  const scopes = [
    { name: wipe, sentence: 'Delete all', granted_to: 'approved-clients', step_up: { level: 'phr' } },
    { name: read, sentence: 'Read all', granted_to: 'users' },
  ]
  await run('api.create', { resource: 'https://deploy.acme.test', scopes })
  const { client_id } = await run('client.create', { ...alone, client_name: 'Deploy', scope: `${wipe} ${read}` })
  await run('client.approve-scopes', { client_id, scope: `${wipe} ${read}` })
  const approved = (await open(`/clients/${String(client_id)}`)).body
  assert.match(approved, /--data-urlencode resource=https:\/\/deploy\.acme\.test --data-urlencode scope=deploy:read/)
  assert.doesNotMatch(approved, /scope=deploy:wipe/)
  const browsing = { redirect_uris: ['https://app.example/cb'], token_endpoint_auth_method: 'none' }
  const page = await pageOf(browsing, '?tab=settings')
  assert.match(page, /authorization address:\s*<code><bdi>http:\/\/localhost:3000\/v2\/oauth\/authorize</)
  assert.doesNotMatch(page, /grant_type=client_credentials|<h2>Installations/)
})

test('the page of a user leads to the organizations of the user', async () => {
  await run('member.disable', { organization_id: mine.organization_id, user_id: mine.user_id })
  const { body } = await open(`/users/${mine.user_id}`)
  assert.match(body, new RegExp(`<dt>Organizations<[^]*href="/console${home}/members"><bdi>Acme<[^]*Disabled`))
})

test('what an error names by a command has a link, and a client that is not there is not called by another id', async () => {
  const absent = await open('/clients/new')
  assert.equal(absent.statusCode, 404)
  assert.match(absent.body, /There is no client with this id\. See <a href="\/console\/clients">Clients<\/a>\./)
  const asked = await open(`${home}/members?ask=member.add`)
  const twice = await browser.press(asked, 'member.add', { user_id: mine.user_id })
  assert.match(twice.body, new RegExp(`already a member[^]*See <a href="/console${home}/members">Members<`))
})

test('a header or another secret in the place of a token is named, and is not on the page', async () => {
  const page = await open('/token')
  const inspect = async (token: string) => (await browser.press(page, 'token.inspect', { token })).body
  const header = await inspect('Bearer eyJhbGciOiJFUzI1NiJ9.x')
  assert.match(header, /This is a header/)
  const secret = await inspect('gcs_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ')
  assert.match(secret, /another secret: client secret\./)
  assert.match(await inspect('two words'), /This is not a token\./)
  assert.doesNotMatch(header + secret, /eyJhbG|gcs_01a2/)
})

test('the audit finds the events of a user who was deleted, by a chosen id too', async () => {
  const { user_id: user } = await run('user.create', { email: stage.anEmail(), name: 'Former' })
  await run('user.delete', { user_id: user })
  const { events } = (await run('audit.list', { user_id: user, limit: 5 })) as { readonly events: readonly object[] }
  assert.ok(events.length > 0)
  const found = await open(`/audit?user_id=${String(user)}`)
  assert.deepEqual([found.statusCode, found.body.match(/<li [^>]*data-row/g)?.length], [200, events.length])
  const chosen = await run('client.create', { client_name: 'Payroll', client_id: 'payroll' })
  await run('client.delete', { client_id: chosen['client_id'] })
  const first = await open('/audit?client_id=payroll')
  assert.match(first.body, /client\.deleted/)
  for (let count = 0; count < 2; count += 1) {
    await registerClient(stage.server, { client_name: 'payroll' })
    const { statusCode, body } = await open('/audit?client_id=payroll')
    assert.deepEqual([statusCode, /client\.deleted/.test(body)], [200, true], 'A stranger took the id as a name.')
  }
  const [, ofRecord = ''] =
    /href="\/console(\/audit\?client_id=gcc_[^"]+)"/.exec((await open('/clients/payroll')).body) ?? []
  assert.match((await open(ofRecord)).body, /client\.deleted/)
  const never = await open('/audit?user_id=never-there')
  assert.deepEqual([never.statusCode, /There is no user named/.test(never.body)], [200, true])
})

test('each redirect URI that is wrong is named, on a line of its own', async () => {
  const asked = await open('/clients?ask=client.create')
  const redirect_uris = ['http://app.example/a', 'https://app.example/', 'http://app.example/b'].join('\r\n')
  const { body } = await browser.press(asked, 'client.create', { client_name: 'Board', redirect_uris })
  const [, error = ''] = /id="error-redirect_uris">([^<]*)</.exec(body) ?? []
  assert.deepEqual(
    error.split('\n').map((line) => line.split(': ', 1)[0]),
    ['http://app.example/a', 'http://app.example/b'],
  )
  const isOpen = (page: string) => /<details\s+class="more"\s+open/.test(page)
  assert.deepEqual([isOpen(asked.body), isOpen(body)], [false, false])
  const typed: readonly Readonly<Record<string, string>>[] = [
    { default_max_age: '60' },
    { require_auth_time: 'on' },
    { 'rules.profile': 'fapi2' },
  ]
  for (const more of typed) {
    const again = await browser.press(await open('/clients?ask=client.create'), 'client.create', {
      client_name: 'Board',
      redirect_uris,
      ...more,
    })
    assert.equal(isOpen(again.body), true, JSON.stringify(more))
  }
  const filled = await open(
    `/clients/${String((await run('client.create', { client_name: 'Set', default_max_age: 77 }))['client_id'])}?ask=client.update`,
  )
  assert.match(filled.body, /value="77"/)
  assert.equal(isOpen(filled.body), false)
})

test('who is signed in and is asked to sign in again reads why', async () => {
  stage.server.clock.advance(6 * 60 * 1000)
  const leaving = await browser.console.get('/console/credentials?ask=admin.create')
  const first = await browser.issuer.get(leadsTo(leaving) ?? assert.fail(leaving.body))
  const shown = await browser.issuer.get(first.headers.location ?? assert.fail(first.body))
  assert.match(shown.body, pageSays('signInAgain'))
  const stranger = new ConsoleBrowser(stage.server)
  const begun = await stranger.issuer.get(leadsTo(await stranger.console.get('/console')) ?? assert.fail())
  const fresh = await stranger.issuer.get(begun.headers.location ?? assert.fail(begun.body))
  assert.doesNotMatch(fresh.body, /You are signed in/)
})

test('the account page leads to the console while the organization of the role is not disabled', async () => {
  const organization_id = await stage.makeOrganization()
  const { email } = await stage.makeUser()
  await giveRole(stage.server, 'write', email, organization_id)
  const own = new ConsoleBrowser(stage.server)
  await own.open('/console', { email })
  const leads = async () => /href="[^"]*\/console"/.test((await own.issuer.get('/account')).body)
  assert.equal(await leads(), true)
  await run('organization.disable', { organization_id })
  assert.equal(await leads(), false)
})

test('an id of what was deleted leads to a page that leads to its events', async () => {
  const { user_id: user } = await run('user.create', { email: 'olga@acme.test' })
  await run('user.delete', { user_id: user })
  const listed = await open(`/audit?user_id=${String(user)}`)
  // The script puts a button into it, which is no part of a link.
  assert.match(listed.body, new RegExp(`<span class="id"><a href="/console/users/${String(user)}">`))
  assert.doesNotMatch(listed.body, /<a [^>]*>\s*<span class="id">/)
  const gone = await browser.console.get(`/console/users/${String(user)}`)
  assert.equal(gone.statusCode, 404)
  assert.match(gone.body, new RegExp(`If it was deleted, <a href="/console/audit\\?user_id=${String(user)}">`))
})

test('CON-33: pages name a deleted client whose id every object has as a member', async () => {
  await run('client.create', { client_name: 'Payroll', client_id: 'constructor' })
  await run('client.delete', { client_id: 'constructor' })
  for (const path of ['/audit?client_id=constructor', '/audit?client_id=constructor&format=ndjson', '']) {
    const { statusCode, body } = await open(path)
    assert.deepEqual([statusCode, body.includes('constructor')], [200, true], path)
  }
})

test('the audit does not say that a user did what anybody can do in the name of the user', async () => {
  stage.server.context.report({
    event: 'sign-in.failed',
    userId: mine.user_id,
    details: { reason: 'wrong-credentials', account: 'digest' },
  })
  const { body } = await open('/audit?event=sign-in.failed')
  const row = /<li [^>]*data-row>[^]*?<\/li>/.exec(body)?.[0] ?? ''
  assert.match(row, new RegExp(`<p>A wrong password for <a href="/console/users/${mine.user_id}">`))
  assert.doesNotMatch(row, /actor=|All by/)
})

test('grants of one client are revoked by one form, which names them once', async () => {
  const { server } = stage
  const client = await registerClient(server, {
    client_name: 'Build Board',
    grant_types: ['authorization_code', 'refresh_token'],
  })
  for (const code of await silentCodes(server, client, 3)) await redeem(server, client, code)
  const ada = await server.context.store.findUserByEmail('ada@acme.test')
  const path = `/console/users/${ada?.id ?? ''}`
  const page = await browser.console.get(path)
  const app = /<li data-row>(?:(?!<\/li>)[^])*Build Board[^]*?<\/li>/.exec(page.body)?.[0] ?? ''
  const grants = [...app.matchAll(/name="row" value="([^"]+)"/g)].map(([, grant = '']) => grant)
  assert.equal(grants.length, 3)
  const asked = await browser.send(path, 'grant.revoke', grants)
  assert.match(asked.body, /<h1>Revoke: <bdi>Build Board’s access to ada@acme\.test<\/bdi><\/h1>/)
  const done = await browser.send(path, 'grant.revoke', grants, { asked: '1' })
  assert.match(done.body, /Revoke: done for <bdi>Build Board’s access to ada@acme\.test<\/bdi>\./)
  assert.doesNotMatch(done.body.slice(done.body.indexOf('Apps allowed')), /Build Board/)
})
