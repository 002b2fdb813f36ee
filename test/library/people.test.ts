import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { HostRequest, Person } from '../../src/library/grantor.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { openCookieJar, type CookieJar } from '../../tools/cookie-jar.ts'
import { authorizeUrl, REDIRECT_URI } from '../../tools/flow.ts'
import { openPerson } from '../../tools/person.ts'
import { openGrantor, serveHost, type Opened } from './host.ts'
import { pageSays } from '../texts/page-texts.ts'

/** A host in which each browser that requests its sign-in page becomes Ada. */
interface Host extends Opened {
  /** The return paths and demands that the host's sign-in page got. */
  readonly signIns: readonly (readonly [returnTo: string, mustAuthenticate: boolean])[]
}

async function openHost(t: TestContext, failure?: Error): Promise<Host> {
  let person: Person | undefined
  const signIns: [string, boolean][] = []
  const people = {
    current(request: HostRequest): Person | undefined {
      if (failure !== undefined) throw failure
      assert.equal((request as IncomingMessage).method, 'GET')
      return person
    },
    signInAddress(returnTo: string, mustAuthenticate: boolean): string {
      signIns.push([returnTo, mustAuthenticate])
      return `/login?next=${encodeURIComponent(returnTo)}`
    },
  }
  const opened = await openGrantor(t, { people })
  await opened.grantor.tasks['group.create']({ group_id: 'staff' })
  await serveHost(t, opened.port, (request, response) =>
    opened.grantor.handler(request, response, (cause) => {
      if (cause !== undefined) return void response.writeHead(500).end('The host failed.')
      // Without a demand, the page takes a session that is a minute old.
      const authenticatedAt = new Date(Date.now() - (signIns.at(-1)?.[1] === true ? 0 : 60_000))
      person = {
        subject: 'u_1',
        name: 'Ada',
        email: 'ada@acme.test',
        emailVerified: true,
        groups: ['staff'],
        authenticatedAt,
      }
      const next = new URL(request.url ?? '', opened.origin).searchParams.get('next') ?? '/'
      response.writeHead(303, { location: next }).end()
    }),
  )
  return { ...opened, signIns }
}

test('a host with sessions of its own signs people in, and the consent page is the server’s', async (t) => {
  const { grantor, issuer, signIns } = await openHost(t)
  const resource = 'https://notes.example'
  await grantor.tasks['api.create']({ resource, tokens: { application_subject: true } })
  const { accessToken, subject } = await walkWithClient(issuer, { resource })
  const claims = await grantor.verify(accessToken, { resource })
  assert.deepEqual([claims.sub, claims.application_subject], [subject, 'u_1'])
  assert.equal(signIns.length, 1)
  assert.match(signIns[0]?.[0] ?? '', /^\/auth\/v2\/oauth\/host-sign-in\?interaction=gin_/)
  const { users } = await grantor.tasks['user.list']()
  assert.deepEqual(
    users.map(({ user_id, email, name, has_password }) => [user_id, email, name, has_password]),
    [[subject, 'ada@acme.test', 'Ada', false]],
  )
  const { groups } = await grantor.tasks['group.list']({ user_id: subject })
  assert.deepEqual(
    groups.map(({ group_id, sources }) => [group_id, sources?.map(({ source }) => source)]),
    [['staff', ['application']]],
  )
  const { identities } = await grantor.tasks['user.show']({ user_id: subject })
  assert.deepEqual(
    identities.map(({ provider_id, subject: own }) => [provider_id, own]),
    [['delegate', 'u_1']],
    'The host finds its own user by the sub of a token.',
  )
  await walkWithClient(issuer)
  assert.equal(signIns.length, 1, 'the session of the host is enough')
})

test('DEL-14: a host with sessions of its own signs people in, and no provider, link, password or passkey does', async (t) => {
  const { grantor, issuer } = await openHost(t)
  const { tasks } = grantor
  const own = { name: 'GitHub', client_id: 'x', client_secret: 'y' }
  const { usable } = await tasks['provider.create']({ provider_id: 'gh', template: 'github', ...own })
  assert.equal(usable, false)
  const { subject: user_id } = await walkWithClient(issuer)
  const reason = /Users have no passwords here, because your application signs them in/
  await assert.rejects(tasks['user.create-link']({ user_id }), reason)
  await assert.rejects(tasks['user.set-password']({ user_id, password: 'another long horse' }), reason)
  const browser = openPerson(issuer)
  for (const page of ['/account/security', '/account/security/add-passkey', '/v2/oauth/sign-in?page=add-passkey']) {
    const { url, status, body } = await browser.visit(issuer + page)
    assert.deepEqual([status, url.pathname], [200, '/auth/account/security'])
    assert.doesNotMatch(body, /passkey/i)
  }
})

test('OpenID Connect Core §3.1.2.1: prompt=login requires a new sign-in despite a session of the host', async (t) => {
  const { issuer, signIns } = await openHost(t)
  await walkWithClient(issuer)
  await walkWithClient(issuer, { prompt: 'login' })
  assert.deepEqual(
    signIns.map(([, mustAuthenticate]) => mustAuthenticate),
    [false, true],
  )
})

test('if the host’s sign-in page changes nothing, the person gets a page with a button and no endless redirect', async (t) => {
  const anHourAgo = Date.now() - 3_600_000
  const old = { subject: 'u_1', authenticatedAt: new Date(anHourAgo) }
  const signIns: boolean[] = []
  let person: Person | undefined
  const signInAddress = (returnTo: string, mustAuthenticate: boolean): string => {
    signIns.push(mustAuthenticate)
    return returnTo
  }
  const { grantor, issuer, port } = await openGrantor(t, { people: { current: () => person, signInAddress } })
  await serveHost(t, port, (request, response) => grantor.handler(request, response))
  const input = { client_name: 'Notes', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' } as const
  const client = await grantor.tasks['client.create'](input)
  for (const [who, parameters, demands] of [
    [undefined, {}, [false]],
    [undefined, { prompt: 'login' }, [true]],
    [old, { prompt: 'login' }, [true]],
    [old, { max_age: '60' }, [true]],
    [old, { max_age: '7200' }, []],
    [{ ...old, authenticatedAt: anHourAgo }, { max_age: '60' }, [true]],
    [{ ...old, authenticatedAt: anHourAgo }, { max_age: '7200' }, []],
    [{ ...old, authenticatedAt: new Date(anHourAgo).toISOString() }, { max_age: '60' }, [true]],
    [{ ...old, authenticatedAt: new Date(anHourAgo).toISOString() }, { max_age: '7200' }, []],
  ] as const) {
    person = who
    signIns.length = 0
    const shown = await openPerson(issuer).visit(issuer + authorizeUrl({ client_id: client.client_id }, parameters))
    assert.deepEqual(signIns, demands)
    if (demands.length === 0) assert.match(shown.body, /value="allow"/)
    else assert.match(shown.body, /You are not signed in yet[^]*<a class="button main"/)
  }
})

test('LIB-10: the host names the person and the number of factors at each request, and an earlier person has no effect', async (t) => {
  let person: Person | undefined
  const people = { current: () => person, signInAddress: () => '/login' }
  const { grantor, issuer, port } = await openGrantor(t, { people })
  await serveHost(t, port, (request, response) =>
    grantor.handler(request, response, () => response.end('The page of the host.')),
  )
  const signIn = (name: string, multiFactor?: boolean): void =>
    void (person = { subject: name, name, authenticatedAt: new Date(), multiFactor })
  const input = { client_name: 'Notes', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' } as const
  const client = await grantor.tasks['client.create'](input)
  const link = (parameters = {}): string => issuer + authorizeUrl({ client_id: client.client_id }, parameters)
  const browser = openPerson(issuer)
  signIn('Margaret')
  assert.ok((await browser.allow(link())).searchParams.has('code'))
  person = undefined
  assert.equal((await browser.visit(link())).body, 'The page of the host.')
  assert.equal((await browser.visit(link({ prompt: 'none' }))).url.searchParams.get('error'), 'login_required')
  assert.equal((await browser.visit(`${issuer}/account`)).body, 'The page of the host.')
  signIn('Grace')
  for (const address of [link(), `${issuer}/account`]) {
    const { body } = await browser.visit(address)
    assert.match(body, /Grace/)
    assert.doesNotMatch(body, /Margaret/)
  }
  signIn('Margaret', true)
  assert.ok((await browser.visit(link())).url.searchParams.has('code'), 'the consent of Margaret is remembered')
  const { events } = await grantor.tasks['audit.list']({ event: 'session.started' })
  const how = events.map(({ details }) => details?.['methods'])
  assert.deepEqual(how, ['fed mfa', 'fed', 'fed', 'fed'])
})

test('DEL-01: the interaction that one browser began is not answered by a request of another one, whose person the host knows', async (t) => {
  let asked = 0
  const ada = { subject: 'u_1', name: 'Ada', authenticatedAt: new Date() }
  const people = { current: () => ((asked += 1), ada), signInAddress: () => '/login' }
  const { grantor, issuer, port } = await openGrantor(t, { people })
  await serveHost(t, port, (request, response) => grantor.handler(request, response))
  const [attacker, victim] = [openCookieJar(), openCookieJar()]
  const get = async (cookies: CookieJar, address: string): Promise<Response> =>
    cookies.keep(await fetch(address, { redirect: 'manual', headers: { cookie: cookies.header() } }))
  const follow = async (cookies: CookieJar, start: string, until: string): Promise<string> => {
    let address = start
    while (!address.includes(until))
      address = new URL((await get(cookies, address)).headers.get('location') ?? '', address).href
    return address
  }
  const began = await follow(attacker, `${issuer}/account`, '/host-sign-in?')
  const interaction = new URL(began).searchParams.get('interaction') ?? ''
  await get(victim, `${issuer}/account`)
  for (const browser of [victim, openCookieJar()]) {
    const refused = await get(browser, await follow(browser, began, '/continue?'))
    assert.equal(refused.status, 403)
    assert.match(await refused.text(), pageSays('errors.other-browser.heading'))
  }
  assert.deepEqual([(await grantor.tasks['interaction.show']({ interaction })).answered, asked], [null, 0])
  assert.equal((await grantor.tasks['user.list']()).users.length, 0)
  assert.equal((await get(attacker, await follow(attacker, began, '/account'))).status, 200, 'the own browser')
})

test('an unknown interaction gets an error page, and starts no session', async (t) => {
  const { issuer, grantor } = await openHost(t)
  for (const interaction of ['', 'gin_made-up', `gin_${'A'.repeat(99)}`]) {
    const shown = await openPerson(issuer).visit(`${issuer}/v2/oauth/host-sign-in?interaction=${interaction}`)
    assert.equal(shown.status, 400, interaction)
    assert.equal(shown.url.pathname, '/auth/v2/oauth/continue')
  }
  assert.equal((await grantor.tasks['user.list']()).users.length, 0)
})

test('a failure of the host’s own function is thrown to the host and logged', async (t) => {
  const { issuer, log } = await openHost(t, new Error('The sessions are down.'))
  await assert.rejects(walkWithClient(issuer), /The host failed/)
  assert.match(log(), /"event":"host-sign-in.failed".*The sessions are down/)
})

test('RFC 9470 §5: the host is asked once for two factors; without them the client gets less, or an error', async (t) => {
  const signIns: (readonly boolean[])[] = []
  let factors: 'one' | 'two' | 'two after it was asked' = 'one'
  const current = (): Person => {
    const multiFactor = factors === 'two' || (factors !== 'one' && signIns.length > 0)
    return { subject: 'u_1', authenticatedAt: new Date(), multiFactor }
  }
  const signInAddress = (returnTo: string, ...asked: readonly boolean[]): string => {
    signIns.push(asked)
    return returnTo
  }
  const { grantor, issuer, port } = await openGrantor(t, { people: { current, signInAddress } })
  await serveHost(t, port, (request, response) => grantor.handler(request, response))
  const input = { client_name: 'Notes', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' } as const
  const { client_id } = await grantor.tasks['client.create'](input)
  const value = 'urn:grantor:acr:2fa'
  const claims = JSON.stringify({ id_token: { acr: { essential: true, value } } })
  for (const [has, parameters, asked, page] of [
    ['one', {}, [], /value="allow"/],
    ['one', { acr_values: value }, [[false, true]], /value="allow"/],
    ['one', { claims }, [[false, true]], /error=unmet_authentication_requirements/],
    ['two', { claims }, [], /value="allow"/],
    ['two after it was asked', { claims }, [[false, true]], /value="allow"/],
    ['two after it was asked', { claims, prompt: 'login' }, [[true, true]], /value="allow"/],
  ] as const) {
    factors = has
    signIns.length = 0
    const shown = await openPerson(issuer).visit(issuer + authorizeUrl({ client_id }, parameters))
    assert.deepEqual(signIns, asked, JSON.stringify([has, parameters]))
    assert.match(shown.url.search + shown.body, page)
  }
})
