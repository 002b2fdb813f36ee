import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { InjectOptions } from 'light-my-request'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { authenticateRole } from '../../src/admin/user/role-holder.ts'
import type { AuthenticationMethod } from '../../src/protocol/sign-in/authentication.ts'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import {
  authorizeUrl,
  hiddenFields,
  locationOf,
  PASSWORD,
  redeem,
  registerClient,
  signInAndAllow,
} from '../../tools/flow.ts'
import { APPLICATION_URL, interactionIn, openApplication, SUBJECT } from '../support/application.ts'
import { openAdminServer } from '../support/admin-server.ts'
import { createAccount } from '../support/accounts.ts'
import { anApi } from '../support/records.ts'
import { ConsoleBrowser, giveRole, grantIdIn, leadsTo } from '../../tools/console-browser.ts'
import type { TestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'

/** How a person signs in to the console, by the pages of the issuer. */

const ends: (() => unknown)[] = []
let server: TestServer

before(async () => {
  server = (await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })).server
  await giveRole(server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

test('CON-13: what another client does with the address, the name or the id of the console is useless at the console', async () => {
  const redirect_uri = 'http://localhost:3001/console/callback'
  const impostor = await registerClient(server, {
    client_name: 'Administration console',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
  })
  const victim = new ConsoleBrowser(server)
  await victim.console.get('/console/clients')
  const answer = await signInAndAllow(victim.issuer, authorizeUrl(impostor, { redirect_uri, scope: 'openid' }))
  assert.equal((await victim.console.get(answer.href)).statusCode, 400)
  // With the id of the console a program of the computer gets a consent page on another port, and a code that no cookie follows from.
  const own = { client_id: CONSOLE_CLIENT_ID }
  const elsewhere = await victim.issuer.get(
    authorizeUrl(own, { redirect_uri: 'http://localhost:4444/console/callback', scope: 'openid' }),
  )
  assert.match(locationOf(elsewhere), /\/consent\?/)
  const silent = await victim.issuer.get(authorizeUrl(own, { redirect_uri, scope: 'openid' }))
  const code = new URL(locationOf(silent)).searchParams.get('code') ?? ''
  assert.equal((await victim.console.get(locationOf(silent))).statusCode, 400)
  const tokens = (await redeem(server, own, code, { redirect_uri })).json<{ access_token: string }>()
  for (const headers of [{ authorization: `Bearer ${tokens.access_token}` }])
    assert.equal((await server.injectAdmin({ method: 'GET', url: '/admin/v1/clients', headers })).statusCode, 401)
  // On a loopback address another program can listen where the console does on another computer: nothing else is implied.
  const resource = 'https://payroll.acme.test'
  await server.context.store.declareApi(anApi({ resource: resource as Resource, scopes: [] }))
  for (const more of [
    { resource },
    { scope: 'openid email profile' },
    { prompt: 'consent' },
    { response_mode: 'form_post' },
    { claims: JSON.stringify({ id_token: { email: null } }) },
    { claims: JSON.stringify({ userinfo: { name: { essential: true } } }) },
  ]) {
    const asked = await victim.issuer.get(authorizeUrl(own, { redirect_uri, scope: 'openid', ...more }))
    assert.match(String(asked.headers.location), /\/consent\?/, JSON.stringify(more))
  }
  const email = 'eve@acme.test'
  await createAccount(server, { email, password: PASSWORD, name: undefined })
  const eve = new ConsoleBrowser(server)
  const asked = await eve.comeBack(await eve.console.get('/console/clients'), { email, decision: 'deny' })
  assert.equal(new URL(asked).searchParams.get('error'), 'access_denied', 'A user without a role is asked.')
})

test('CON-16: a sign-in of another browser, that is repeated, late, changed or of another issuer opens nothing', async () => {
  const browser = new ConsoleBrowser(server)
  const begin = async (one: ConsoleBrowser): Promise<string> => one.comeBack(await one.console.get('/console/clients'))
  const refused = async (one: ConsoleBrowser, address: string, why: string): Promise<void> => {
    const answer = await one.console.get(address)
    assert.equal(answer.statusCode, 400, why)
    assert.doesNotMatch(String(answer.headers['set-cookie']), /grantor-console-3001=/, why)
  }
  const address = await begin(browser)
  const other = new ConsoleBrowser(server)
  await refused(other, address, 'a browser that began nothing')
  await other.console.get('/console/clients')
  await refused(other, address, 'a browser that began another sign-in')
  const changed = (name: string, value: string): string => {
    const url = new URL(address)
    url.searchParams.set(name, value)
    return url.href
  }
  await refused(browser, changed('state', `${new URL(address).searchParams.get('state')}x`), 'a changed state')
  assert.equal((await browser.arrive(address)).statusCode, 200)
  await refused(browser, address, 'a second time')
  assert.equal((await browser.console.get('/console/clients')).statusCode, 200, 'The session is not affected.')
  const late = new ConsoleBrowser(server)
  const stale = await begin(late)
  server.clock.advance(10 * 60 * 1000)
  await refused(late, stale, 'late')
  const third = new ConsoleBrowser(server)
  const mixed = new URL(await begin(third))
  mixed.searchParams.set('iss', 'https://evil.example')
  await refused(third, mixed.href, 'of another issuer')
})

test('CON-18: the person comes back to a screen of the console, and nowhere else', async () => {
  for (const path of [
    '/console//evil.example',
    '/console/%2F%2Fevil.example',
    '/console/clients/..%2F..%2Fadmin',
    '/console/clients/../../admin',
  ]) {
    const browser = new ConsoleBrowser(server)
    const answer = await browser.console.get(path)
    assert.ok(answer.statusCode === 404 || leadsTo(answer)?.startsWith(server.origin) === true, path)
  }
  const browser = new ConsoleBrowser(server)
  const leaving = await browser.console.get('/console/clients?source=registration&return=https://evil.example&done=x')
  const arrival = await browser.console.get(await browser.comeBack(leaving))
  assert.match(locationOf(arrival), /^\/console\/clients\?source=registration&signed_in=\d+$/)
})

test('CON-30: cookies that another program of the host sets make no browser sign in again and again, and none act for another person', async () => {
  const browser = new ConsoleBrowser(server)
  await browser.open()
  const email = 'grace@acme.test'
  await createAccount(server, { email, password: PASSWORD, name: undefined })
  await giveRole(server, 'write', email)
  const grace = new ConsoleBrowser(server)
  await grace.open('/console/clients', { email })
  const name = 'grantor-console-3001'
  const [own, other] = [browser, grace].map(({ console }) => `${name}=${console.cookies.get(name)}`)
  const ask = (cookie: string, url = '/console/clients') =>
    server.injectAdmin({ method: 'GET', url, headers: { cookie } })
  for (const cookie of [`${name}=x; ${own}`, `${own}; ${name}=x.y`, `${name}=; ${name}=out; ${own}`, `${own}; ${own}`])
    assert.match((await ask(cookie)).body, /<h1>Clients/, cookie.slice(0, 40))
  for (const cookie of [`${own}; ${other}`, `${name}=x; ${other}; ${own}`]) {
    const refused = await ask(cookie)
    assert.deepEqual([refused.statusCode, /cookies of several sessions/.test(refused.body)], [403, true])
  }
  // A sign-in whose cookie does not come back.
  const forgetful = new ConsoleBrowser(server)
  const arrival = await forgetful.console.get(await forgetful.comeBack(await forgetful.console.get('/console/clients')))
  forgetful.console.cookies.delete(name)
  const shown = await forgetful.console.get(locationOf(arrival))
  assert.deepEqual([shown.statusCode, leadsTo(shown)], [400, undefined])
  assert.match(shown.body, /does not keep the session[^]*href="\/console\/clients"/)
  server.clock.advance(60 * 1000)
  assert.notEqual(leadsTo(await forgetful.console.get(locationOf(arrival))), undefined)
  // A planted value beside the own one does not prevent a sign-in.
  const planted = new ConsoleBrowser(server)
  const back = await planted.comeBack(await planted.console.get('/console/clients'))
  const begun = planted.console.cookies.get('grantor-console-begin-3001') ?? ''
  const both = `grantor-console-begin-3001=${'A'.repeat(22)}; grantor-console-begin-3001=${begun}`
  assert.equal((await ask(both, back)).statusCode, 303)
})

test('CON-31: after a sign-out, a pause or the end of a session the person signs in again, whatever session the issuer has', async () => {
  const asksAnew = async (browser: ConsoleBrowser): Promise<boolean> =>
    new URL(leadsTo(await browser.console.get('/console/clients')) ?? '').searchParams.get('max_age') === '0'
  assert.equal(await asksAnew(new ConsoleBrowser(server)), false, 'the first time')
  const out = new ConsoleBrowser(server)
  const page = await out.open()
  const { csrf = '' } = hiddenFields({ body: /<form[^>]*sign-out[^]*?<\/form>/.exec(page.body)?.[0] ?? '' })
  await out.console.post('/console/sign-out', { csrf })
  assert.equal(await asksAnew(out), true, 'signed out')
  assert.equal((await out.open()).statusCode, 200)
  const ended = new ConsoleBrowser(server)
  await ended.open()
  await perform(server.context, 'grant.revoke', { grant_id: grantIdIn(ended) })
  assert.equal(await asksAnew(ended), true, 'the grant was revoked')
  const idle = new ConsoleBrowser(server)
  await idle.open()
  server.clock.advance(30 * 60 * 1000)
  assert.equal(await asksAnew(idle), true, 'half an hour without a request')
})

test('CON-32: a page of another site cannot measure a page of the console', async () => {
  const browser = new ConsoleBrowser(server)
  await browser.open()
  const rows: readonly (readonly [site: string, mode: string, isShown: boolean])[] = [
    ['none', 'navigate', true],
    ['same-origin', 'cors', true],
    ['cross-site', 'navigate', true],
    ['same-site', 'no-cors', false],
    ['cross-site', 'no-cors', false],
    ['cross-site', 'cors', false],
  ]
  for (const [site, mode, isShown] of rows) {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode }
    const { body } = await browser.console.get('/console/clients', headers)
    assert.equal(body.includes('<h1>Clients'), isShown, `${site} ${mode}`)
  }
})

test('the client of the console is there again with the next sign-in, and who replaces a session is the actor', async () => {
  await perform(server.context, 'client.delete', { client_id: CONSOLE_CLIENT_ID })
  server.clock.advance(1000)
  const browser = new ConsoleBrowser(server)
  assert.equal((await browser.open()).statusCode, 200)
  const first = grantIdIn(browser)
  // Another person signs in at the same browser, where a form needs a sign-in of now.
  const grace = (await server.context.store.findUserByEmail('grace@acme.test'))?.id ?? assert.fail()
  browser.issuer.cookies.clear()
  server.clock.advance(5 * 60 * 1000 + 1)
  const leaving = await browser.console.get(`/console/users/${grace}?ask=user.delete`)
  await browser.console.get(await browser.comeBack(leaving, { email: 'grace@acme.test' }))
  const { events } = await perform<{ events: readonly { actor: string; grant_id?: string }[] }>(
    server.context,
    'audit.list',
    {
      event: 'grant.revoked',
      limit: 1,
    },
  )
  assert.equal(events[0]?.actor, grace)
  assert.notEqual(grantIdIn(browser), first)
})

test('CON-17: an issuer on the network needs two factors, and the account must still have both', async (context) => {
  const console = 'https://console.acme.test'
  const env = { GRANTOR_ISSUER: 'https://auth.acme.test', GRANTOR_HOST: '127.0.0.1', GRANTOR_CONSOLE_URL: console }
  const { server: strict } = await openAdminServer(context, env)
  const strictAda = await giveRole(strict)
  const hosted = {
    inject: strict.inject,
    injectAdmin: (options: InjectOptions) =>
      strict.injectAdmin({ ...options, headers: { host: 'console.acme.test', ...options.headers } }),
  }
  const weak = new ConsoleBrowser(hosted)
  const refused = await weak.open()
  assert.deepEqual([refused.statusCode, /two-step sign-in/.test(refused.body)], [403, true])
  // Without the demand in the address, the code brings one factor, and the console refuses it.
  const stripped = new ConsoleBrowser(hosted)
  const address = new URL(leadsTo(await stripped.console.get('/console/clients')) ?? '')
  address.searchParams.delete('claims')
  const plain = await stripped.comeBack({
    body: `<meta http-equiv="refresh" content="0; url=${address.href.replaceAll('&', '&amp;')}">`,
  } as never)
  assert.equal((await stripped.arrive(plain)).statusCode, 403)

  const app = await addApp(strict)
  const strong = new ConsoleBrowser(hosted)
  const page = await strong.open('/console/clients', { code: app.code() })
  assert.equal(page.statusCode, 200)
  assert.match(String([...strong.console.cookies.keys()]), /__Host-grantor-console/)
  // What the session says of its second step counts only while the account has a factor.
  const { store } = strict.context
  const record = await store.findGrant(grantIdIn(strong))
  assert.ok(record?.openid)
  const { openid } = record
  const isTwoFactor = async (methods: readonly AuthenticationMethod[], hasFactor: boolean): Promise<boolean> => {
    const grant = { ...record, openid: { ...openid, session: { ...openid.session, methods } } }
    const stated = {
      ...store,
      findGrant: async () => grant,
      ...(hasFactor ? {} : { findSecondFactor: async () => undefined }),
    }
    return (await authenticateRole({ ...strict.context, store: stated }, record.id)).kind === 'administrator'
  }
  const factors: readonly (readonly [methods: readonly AuthenticationMethod[], still: boolean, removed: boolean])[] = [
    [['pwd', 'otp', 'mfa'], true, false],
    [['pwd', 'recovery', 'mfa'], true, false],
    [['pop', 'mfa'], true, false],
    [['fed', 'mfa'], true, true],
    [['fed', 'otp', 'mfa'], true, false],
    [['fed', 'recovery', 'mfa'], true, false],
    [['fed', 'pop', 'mfa'], true, false],
    [['fed'], false, false],
  ]
  for (const [methods, still, removed] of factors)
    assert.deepEqual(
      [await isTwoFactor(methods, true), await isTwoFactor(methods, false)],
      [still, removed],
      methods.join(),
    )
  await perform(strict.context, 'user.reset-second-factor', { user_id: strictAda })
  assert.notEqual(leadsTo(await strong.console.get('/console/clients')), undefined, 'The reset ended the session.')
  const again = await addApp(strict)
  await strict.context.store.setRole({
    userId: strictAda,
    access: 'write',
    organizationId: undefined,
    isLoopbackOnly: true,
    setAt: strict.context.clock(),
  })
  const trial = new ConsoleBrowser(hosted)
  const asked = await trial.comeBack(await trial.console.get('/console/clients'), {
    code: again.code(),
    decision: 'deny',
  })
  assert.equal(new URL(asked).searchParams.get('error'), 'access_denied', 'As without a role, the user is asked.')
  assert.match(
    (await trial.open()).body,
    /has no role here/,
    'A role for a trial ends when the issuer is on the network.',
  )
})

test('CON-17: with delegated sign-in the application states the two factors of the console', async (context) => {
  const env = {
    GRANTOR_ISSUER: 'https://auth.acme.test',
    GRANTOR_HOST: '127.0.0.1',
    GRANTOR_DELEGATE_URL: APPLICATION_URL,
  }
  const { server: delegating } = await openAdminServer(context, env)
  const { accept, signIn } = await openApplication(delegating)
  const enter = async (browser: ConsoleBrowser) => {
    const follow = async (start: string): Promise<string> => {
      let answer = await browser.issuer.get(start)
      for (;;) {
        // Who has no role is asked for consent.
        if (answer.statusCode === 200) answer = await browser.issuer.submit(answer, { decision: 'allow' })
        const at = locationOf(answer)
        if (new URL(at).origin !== delegating.origin) return at
        answer = await browser.issuer.get(at)
      }
    }
    const at = await follow(leadsTo(await browser.console.get('/console/clients')) ?? '')
    const interaction = interactionIn({ headers: { location: at } } as never)
    const weak = await accept(interaction)
    assert.deepEqual([weak.statusCode, /multi_factor_needed/.test(weak.body)], [409, true])
    return browser.arrive(await follow(await signIn(interaction, { multi_factor: true })))
  }
  const refused = await enter(new ConsoleBrowser(delegating))
  assert.match(refused.body, /has no role here/)
  const identity = await perform<{ users: readonly { user_id: string }[] }>(delegating.context, 'user.list', {
    subject: SUBJECT,
  })
  await perform(delegating.context, 'role.set', { user_id: identity.users[0]?.user_id, access: 'write' })
  const page = await enter(new ConsoleBrowser(delegating))
  assert.deepEqual([page.statusCode, /value="client\.verify"/.test(page.body)], [200, true])
})
