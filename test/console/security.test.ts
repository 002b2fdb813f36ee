import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { UserId } from '../../src/protocol/ids.ts'
import { obtainTokens, PASSWORD } from '../../tools/flow.ts'
import { ConsoleBrowser, filledIn, giveRole, leadsTo } from '../../tools/console-browser.ts'
import { createAccount } from '../support/accounts.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { openMailHost } from '../support/hosts/mail-host.ts'
import { openProviderHost } from '../support/provider/provider-host.ts'
import { addProvider } from '../support/provider/providers.ts'
import { perform, type Members, said } from '../support/tasks.ts'

/** What the screens of roles, credentials, keys, tokens, the audit and the server say, offer and refuse. */

const ends: (() => unknown)[] = []
const files = { after: (end: unknown) => void ends.push(end as () => unknown) }
let stage: AdminServer
let browser: ConsoleBrowser
let ada: UserId

before(async () => {
  stage = await openAdminServer(files, (await openMailHost(files)).env)
  ada = await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open('/console')
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const roleOf = async (id: UserId) => stage.server.context.store.findRole(id)
const page = async (path: string) => (await browser.console.get(`/console/${path}`)).body

/** Opens the page that asks, after a sign-in if it needs one. */
function ask(path: string, task: string, subject?: string) {
  const query = new URLSearchParams({ ask: task, ...(subject === undefined ? {} : { row: subject }) })
  return browser.open(`/console/${path}?${query.toString()}`)
}

/** A person who is signed in to the console, with read access. */
async function aReader(): Promise<{ readonly id: UserId; readonly email: string; readonly reader: ConsoleBrowser }> {
  const email = stage.anEmail()
  await createAccount(stage.server, { email, password: PASSWORD, name: undefined })
  const id = await giveRole(stage.server, 'read', email)
  const reader = new ConsoleBrowser(stage.server)
  await reader.open('/console', { email })
  return { id, email, reader }
}

test('CON-20: a person does not change the own role, and the only person with write access for the server is warned', async () => {
  const warning = /You are the only person who may change the server here[^]*grantor role set gus_\S+ --access write/
  const { id } = await stage.makeUser()
  assert.match(await page('roles'), warning)
  assert.doesNotMatch(await page('roles'), new RegExp(`row=${ada}`))
  assert.doesNotMatch(await page(`users/${ada}`), /value="role\.(set|remove)"/)
  await perform(stage.server.context, 'role.set', { user_id: id, access: 'write' })
  assert.doesNotMatch(await page('roles'), warning)
  for (const [path, subject] of [
    ['roles', ada],
    [`users/${ada}`, undefined],
  ] as const)
    for (const task of ['role.set', 'role.remove']) {
      const asked = await ask(path, task, subject)
      const refused = await browser.press(asked, task, task === 'role.set' ? { access: 'read' } : {})
      assert.deepEqual([refused.statusCode, /This is your own account/.test(refused.body)], [409, true], path + task)
    }
  assert.equal((await roleOf(ada))?.access, 'write')
  await perform(stage.server.context, 'role.remove', { user_id: id })
})

test('a role is set on the page of the user, counts at once, and ends with the next request', async () => {
  const { id, email, reader } = await aReader()
  assert.equal((await reader.console.get('/console/roles?ask=role.set')).statusCode, 403)
  assert.doesNotMatch((await reader.console.get('/console/roles')).body, /ask=role/)
  const asked = await ask(`users/${id}`, 'role.set')
  assert.match(
    asked.body,
    new RegExp(`Set the role: <bdi>${email}</bdi>[^]*With write access a person may do whatever`),
  )
  // The person signed in, and no mail proved the address.
  assert.match(asked.body, /never verified, and the account is in use/)
  assert.match(
    (await browser.press(asked, 'role.set', { access: 'write' })).body,
    new RegExp(said('role.set', { access: 'write' })),
  )
  assert.equal((await roleOf(id))?.access, 'write')
  assert.match(await page('roles'), new RegExp(`${email}[^]*write</td>[^]*the server`))
  const removed = await browser.press(await ask('roles', 'role.remove', id), 'role.remove')
  assert.match(removed.body, new RegExp(said('role.remove', { user_id: email })))
  assert.equal(await roleOf(id), undefined)
  assert.match((await reader.open('/console', { email })).body, /has no role here/)
})

test('CON-19: a role that counts only on a loopback issuer makes neither a role nor write access that lasts longer', async () => {
  const { context } = stage.server
  const { id } = await stage.makeUser()
  await perform(context, 'role.set', { user_id: ada, access: 'write', loopback_only: true })
  stage.server.clock.advance(1000)
  await browser.open('/console')
  const asked = await ask(`users/${id}`, 'role.set')
  assert.match(asked.body, /Your own role counts only while the issuer is a loopback address/)
  assert.match(asked.body, /name="loopback_only"[^>]* checked/)
  const refused = await browser.press(asked, 'role.set', { access: 'read', loopback_only: '' })
  assert.deepEqual([refused.statusCode, /set a role that counts elsewhere too/.test(refused.body)], [409, true])
  assert.equal(await roleOf(id), undefined)
  await browser.press(asked, 'role.set', { access: 'write', loopback_only: 'on' })
  assert.equal((await roleOf(id))?.isLoopbackOnly, true)
  // Nor does another person with such a role make the first one last.
  assert.equal(
    (await browser.press(await ask('roles', 'role.set', ada), 'role.set', { access: 'write', loopback_only: '' }))
      .statusCode,
    409,
  )
  const creating = await ask('credentials', 'admin.create')
  assert.match(creating.body, /these credentials count after that too/)
  const write = await browser.press(creating, 'admin.create', { name: 'Trial', access: 'write' })
  assert.deepEqual([write.statusCode, /create credentials with write access/.test(write.body)], [409, true])
  const read = await browser.press(write, 'admin.create', { name: 'Trial', access: 'read' })
  assert.match(read.body, /class="secret"/)
  assert.doesNotMatch(await page('credentials'), /value="delegate\./)
  const sign = await browser.press(
    await ask('credentials', 'delegate.create-credentials'),
    'delegate.create-credentials',
  )
  assert.equal(sign.statusCode, 409)
  const { credentials } = await perform<{ credentials: readonly Members[] }>(context, 'admin.list', {})
  assert.deepEqual(
    credentials.map(({ access }) => access),
    ['read'],
  )
  assert.equal((await roleOf(ada))?.isLoopbackOnly, true)
  await giveRole(stage.server)
  stage.server.clock.advance(1000)
  await browser.open('/console')
})

test('CON-19: a role that counts only on a loopback issuer gets into no account whose role counts elsewhere too', async () => {
  const { context } = stage.server
  const { id: keeper } = await stage.makeUser()
  const { id: other } = await stage.makeUser()
  await perform(context, 'role.set', { user_id: keeper, access: 'write' })
  await perform(context, 'role.set', { user_id: ada, access: 'write', loopback_only: true })
  stage.server.clock.advance(1000)
  await browser.open('/console')
  const [account, role] = [await context.store.findUser(keeper), await roleOf(keeper)]
  for (const task of ['user.create-link', 'user.unlock', 'user.set-email', 'role.set', 'role.remove']) {
    const refused = await ask(`users/${keeper}`, task)
    assert.deepEqual([refused.statusCode, /whose role counts elsewhere too/.test(refused.body)], [409, true], task)
  }
  assert.deepEqual([await context.store.findUser(keeper), await roleOf(keeper)], [account, role])
  await perform(context, 'user.disable', { user_id: keeper })
  const disabled = (await browser.open(`/console/users/${keeper}`)).body
  assert.match(disabled, /class="notice quiet">[^<]*whose role counts elsewhere too/)
  assert.doesNotMatch(disabled, /name="task" value="(user|role|session)\./)
  assert.deepEqual(await context.store.listLinks(keeper), [])
  const link = await browser.press(await ask(`users/${other}`, 'user.create-link'), 'user.create-link')
  assert.match(link.body, /class="secret"/)
  // Another administrator gives the role after the task has read, and before it changes.
  const { actingAs } = context
  for (const [task, fields, operation] of [
    ['user.create-link', {}, 'createLink'],
    ['user.unlock', {}, 'unlockUser'],
    ['user.set-email', { email: stage.anEmail(), verified: 'on' }, 'setEmail'],
    ['role.set', { access: 'read', loopback_only: 'on' }, 'setRole'],
    ['role.remove', {}, 'removeRole'],
  ] as const) {
    const { id: late } = await stage.makeUser()
    await perform(context, 'role.set', { user_id: late, access: 'read', loopback_only: true })
    const asked = await ask(`users/${late}`, task)
    const racing = (...acting: Parameters<typeof actingAs>): ReturnType<typeof actingAs> => {
      const store = actingAs(...acting)
      const giving = async (input: never) => {
        Object.assign(context, { actingAs })
        await perform(context, 'role.set', { user_id: late, access: 'write' })
        return (store[operation] as (given: never) => Promise<unknown>)(input)
      }
      return { ...store, [operation]: giving }
    }
    Object.assign(context, { actingAs: racing })
    const refused = await browser.press(asked, task, fields)
    assert.equal(context.actingAs, actingAs, task)
    assert.deepEqual([refused.statusCode, /whose role counts elsewhere too/.test(refused.body)], [409, true], task)
    assert.equal((await roleOf(late))?.access, 'write', task)
    assert.deepEqual(await context.store.listLinks(late), [])
    await perform(context, 'role.remove', { user_id: late })
  }

  // The word of a provider opens accounts.
  const chosen = { name: 'Own', issuer: 'http://127.0.0.1:9', client_id: 'grantor', client_secret: 'the-s3cr3t-of-it' }
  const creating = await browser.open('/console/providers?ask=provider.create&template=oidc&provider_id=own')
  assert.match(creating.body, /so the command line alone connects and changes providers/)
  const taking = await browser.press(creating, 'provider.create', { ...chosen, sign_up: 'anybody' })
  assert.deepEqual([taking.statusCode, /decide about a provider/.test(taking.body)], [409, true])
  await perform(context, 'provider.create', { ...chosen, provider_id: 'own', template: 'oidc' })
  const changed = async (task: string, fields = {}) => {
    const asked = await ask('providers/own', task)
    return (await browser.press(asked, task, { ...filledIn(asked, task), ...fields })).statusCode
  }
  assert.equal(await changed('provider.update', { sign_up: 'anybody' }), 409)
  await perform(context, 'provider.disable', { provider_id: 'own' })
  assert.equal(await changed('provider.enable'), 409)
  await perform(context, 'provider.delete', { provider_id: 'own' })
  await perform(context, 'role.remove', { user_id: keeper })
  await giveRole(stage.server)
  stage.server.clock.advance(1000)
  await browser.open('/console')
})

test('a person who may only read tests one provider at a time, and the console stays open to others', async (t) => {
  const host = await openProviderHost(t)
  await addProvider(stage.server, host)
  const { reader } = await aReader()
  const asked = await reader.console.get('/console/providers/idp')
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  host.holdBack('/jwks', () => {
    reached.resolve()
    return held.promise
  })
  const first = reader.press(asked, 'provider.test')
  await reached.promise
  const others = await Promise.all(Array.from({ length: 20 }, () => reader.press(asked, 'provider.test')))
  assert.deepEqual(new Set(others.map(({ statusCode }) => statusCode)), new Set([409]))
  assert.match(others[0]?.body ?? '', /You are testing a provider already/)
  assert.equal((await browser.console.get('/console/providers')).statusCode, 200)
  // Another person tests it meanwhile.
  const own = browser.press(await browser.console.get('/console/providers/idp'), 'provider.test')
  held.resolve()
  assert.match((await first).body, /The connection works/)
  assert.match((await own).body, /The connection works/)
  assert.equal(host.paths().filter((path) => path === '/token').length, 2)
  assert.match((await reader.press(asked, 'provider.test')).body, /The connection works/)
})

test('a provider that is created while the person tests another one says why it was not tested', async (t) => {
  const host = await openProviderHost(t)
  await addProvider(stage.server, host, {}, { id: 'slow' })
  const creating = await browser.open('/console/providers?ask=provider.create&template=oidc&provider_id=second')
  const testing = await browser.console.get('/console/providers/slow')
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  host.holdBack('/jwks', () => {
    reached.resolve()
    return held.promise
  })
  const first = browser.press(testing, 'provider.test')
  await reached.promise
  const second = { name: 'Second', issuer: host.issuer, client_id: 'grantor', client_secret: 'the-s3cr3t-of-it' }
  const made = await browser.press(creating, 'provider.create', second)
  assert.match(
    made.body,
    new RegExp(
      `${said('provider.create')}[^]*The connection was not tested[^]*You are testing a provider already[^]*has the test\\.`,
    ),
  )
  held.resolve()
  assert.match((await first).body, /The connection works/)
  const shown = await browser.console.get('/console/providers/second')
  assert.match((await browser.press(shown, 'provider.test')).body, /Test of the connection/)
})

test('a provider that works is said to work before it is offered to users', async (t) => {
  const host = await openProviderHost(t)
  await addProvider(stage.server, host, {}, { id: 'early' })
  await perform(stage.server.context, 'provider.disable', { provider_id: 'early' })
  const tested = await browser.press(await browser.console.get('/console/providers/early'), 'provider.test')
  assert.match(tested.body, /The connection works[^]*It is disabled[^]*ask=provider\.enable/)
})

test('the token of credentials works until they are revoked', async () => {
  const asked = await ask('credentials', 'admin.create')
  const made = await browser.press(asked, 'admin.create', { name: 'Pipeline', access: 'read', days: '30' })
  const token = /gad_[\w-]+/.exec(made.body)?.[0] ?? assert.fail(made.body)
  assert.match(made.body, new RegExp(`${said('admin.create')}[^]*Keep it where only the program[^]*/admin/v1/clients`))
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await stage.server.injectAdmin({ method: 'GET', url: '/admin/v1/clients', headers })).statusCode
  }
  assert.equal(await read(), 200)
  const list = await page('credentials')
  const [, id = ''] = /Pipeline[^]*?ask=admin\.revoke&amp;row=([\w-]+)/.exec(list) ?? []
  assert.match(
    (await browser.press(await ask('credentials', 'admin.revoke', id), 'admin.revoke')).body,
    new RegExp(said('admin.revoke', { credential_id: 'Pipeline' })),
  )
  assert.equal(await read(), 401)
  assert.match(await page('credentials'), /Pipeline[^]*?Revoked</)
})

test('what a token is, is said in words with links, and its text is in no address, link or log', async () => {
  const client = await stage.makeClient()
  const { access_token: access, refresh_token: refresh = '' } = await obtainTokens(stage.server, client)
  const { reader } = await aReader()
  const inspect = async (token: string) => {
    const answer = await reader.press(await reader.console.get('/console/token'), 'token.inspect', { token })
    assert.deepEqual([answer.headers.location, answer.headers['cache-control']], [undefined, 'no-store'])
    return answer
  }
  const known = await inspect(access)
  assert.match(known.body, /This is an access token, and it works\./)
  assert.match(known.body, new RegExp(`href="/console/clients/${client.client_id}"><bdi>Client \\d+<`))
  assert.match(known.body, new RegExp(`href="/console/users/${ada}"><bdi>ada@acme\\.test<[^]*href="/console/grants/`))
  assert.ok(!known.body.includes(access))
  assert.doesNotMatch(known.body, /Revoke the token/)
  assert.match((await inspect(` ${refresh}\t`)).body, /This is a refresh token, and it works\./)
  assert.match((await inspect('nothing')).body, /Unknown<[^]*did not issue this text/)
  const malformed = await inspect('two words')
  assert.deepEqual([malformed.statusCode, /This is not a token\./.test(malformed.body)], [422, true])
  const denied = await reader.console.get('/console/token?ask=token.revoke')
  assert.equal(denied.statusCode, 403)

  const asked = await ask('token', 'token.revoke')
  const revoked = await browser.press(asked, 'token.revoke', { token: access, family: 'on' })
  assert.match(revoked.body, new RegExp(said('token.revoke')))
  assert.match((await inspect(access)).body, /it does not work: it or its grant was revoked\./)
  assert.match((await inspect(refresh)).body, /Inactive</)
  for (const text of [access, refresh]) assert.ok(!stage.server.log().includes(text.slice(-30)))
})

test('the audit is verified in words, each link that was changed is named, and no address starts the verification', async () => {
  const { context } = stage.server
  const verify = async () => browser.press(await browser.console.get('/console/audit/verification'), 'audit.verify')
  assert.match((await verify()).body, /Nothing was changed or removed[^]*\d+ events in \d+ links? of 1 chain were read/)
  assert.equal(
    (await browser.console.get('/console/audit/verification?head=x')).body.includes('class="ask result"'),
    false,
  )
  const { actingAs } = context
  const changing = (actor: string): ReturnType<typeof actingAs> => {
    const store = actingAs(actor, undefined)
    return {
      ...store,
      listAuditLinks: async (slice) =>
        (await store.listAuditLinks(slice)).map((link, index) => (index === 1 ? { ...link, events: '[]' } : link)),
    }
  }
  Object.assign(context, { actingAs: changing })
  const changed = await verify()
  Object.assign(context, { actingAs })
  assert.match(changed.body, /1 fault: [^]*Link \S+ was changed \(chain/)
})

test('a key is created and withdrawn, and the key that signs has no button', async () => {
  assert.doesNotMatch(await page('keys'), /ask=key\.retire/)
  const made = await browser.press(await ask('keys', 'key.rotate'), 'key.rotate', { purpose: 'access' })
  assert.match(made.body, new RegExp(`${said('key.rotate')}[^]*Signs later`))
  const [, kid = ''] = /ask=key\.retire&amp;row=([\w-]+)/.exec(made.body) ?? []
  const refused = await browser.press(made, 'key.rotate')
  assert.equal((await browser.press(refused, 'key.rotate', { purpose: 'access' })).statusCode, 409)
  const asked = await ask('keys', 'key.retire', kid)
  assert.match(
    asked.body,
    new RegExp(`Withdraw: <bdi>ES256 key ${kid}</bdi>[^]*Tokens that the key signed are rejected`),
  )
})

test('the server sends a test mail, confirms a clock that differs, and ends everything after the word', async () => {
  const { context } = stage.server
  const sent = await browser.press(await ask('server', 'mail.test'), 'mail.test', { address: 'ada@acme.test' })
  assert.match(sent.body, /The mail server accepted a mail to <bdi>ada@acme\.test/)
  assert.doesNotMatch(await page('server'), /value="clock\.confirm"/)
  const { clockCheck } = context
  Object.assign(context, { clockCheck: { ...clockCheck, differenceMs: () => 90_000 } })
  const late = await browser.console.get('/console/server')
  assert.match(late.body, /The clock differs/)
  const confirmed = await browser.press(await browser.press(late, 'clock.confirm'), 'clock.confirm')
  Object.assign(context, { clockCheck })
  assert.match(confirmed.body, /The server goes on with the clock of its machine/)
  const asked = await ask('server', 'token.revoke-all')
  assert.equal((await browser.press(asked, 'token.revoke-all', { confirm: 'yes' })).statusCode, 422)
  assert.equal((await browser.console.get('/console/server')).statusCode, 200)
  await browser.press(asked, 'token.revoke-all', { confirm: 'everything' })
  // Each node learns of it within a second.
  stage.server.clock.advance(1001)
  assert.notEqual(leadsTo(await browser.console.get('/console/server')), undefined)
})
