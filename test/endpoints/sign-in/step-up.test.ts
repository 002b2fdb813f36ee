import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { compileFunction } from 'node:vm'
import { decodeJwt } from 'jose'
import type { Response } from 'light-my-request'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import {
  hiddenFields,
  locationOf,
  PlainBrowser,
  postForm,
  redeem,
  refresh,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { addApp, type App } from '../../../tools/sign-in/app.ts'
import type { SoftwareAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { signedFields } from '../../../tools/sign-in/passkeys.ts'
import { knowApis } from '../../support/apis.ts'
import type { TestServer } from '../../support/server.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { submitTo } from '../../support/sign-in/apps.ts'
import { selectAll } from '../../support/store/dump.ts'
import { answerOf, idTokenOf, makeClient, signIn, tokensOf } from '../openid/login.ts'
import { addPasskey, allow, API, OPAQUE, openWalk, pageOf, SCOPES, urlOf, type Walk } from './step-up-walk.ts'

const FIRST_MS = 400_000

function sessionsOf(server: TestServer): readonly Readonly<Record<string, unknown>>[] {
  return selectAll(server, 'select root_id, methods from sessions order by session_id').map((row) => ({ ...row }))
}

const CASES: readonly (readonly [
  name: string,
  confirm: (walk: Walk, page: Response, app: App, authenticator: SoftwareAuthenticator) => Promise<Response>,
  methods: string,
  acr: string,
  time: 'of the password' | 'now',
])[] = [
  [
    'a code',
    ({ browser }, page, app) => submitTo(browser, page, '/sign-in/code', { code: app.code() }),
    'pwd otp mfa',
    'urn:grantor:acr:2fa',
    'of the password',
  ],
  [
    'a recovery code',
    ({ browser }, page, app) => submitTo(browser, page, '/sign-in/recovery-code', { code: app.recoveryCodes[0] ?? '' }),
    'pwd mfa recovery',
    'urn:grantor:acr:2fa',
    'of the password',
  ],
  [
    'a passkey',
    ({ browser, userId }, page, _, authenticator) =>
      browser.post('/v2/oauth/sign-in/second-passkey', signedFields(page, { userId, authenticator })),
    'pwd pop mfa',
    'phr',
    'now',
  ],
]

for (const [name, confirm, methods, acr, time] of CASES) {
  test(`RFC 9470 §5, ACR-04: ${name} lifts the session for a scope; tokens and introspection say the level and the time ${time}, after a refresh too`, async (t) => {
    const walk = await openWalk(t)
    const { server, client, vault, browser, signedInAt } = walk
    const authenticator = await addPasskey(walk)
    const app = await addApp(server)
    const held = browser.cookies.get(SESSION_COOKIE)
    const [first] = sessionsOf(server)
    server.clock.advance(FIRST_MS)
    const page = await pageOf(walk, { resource: OPAQUE })
    assert.match(page.body, /Board<\/\w+> asks for more: confirm with your second step\./)
    const stepped = await confirm(walk, page, app, authenticator)
    assert.match(locationOf(stepped), /\/consent\?/)
    assert.deepEqual(sessionsOf(server), [{ root_id: first?.['root_id'], methods }])
    assert.notEqual(browser.cookies.get(SESSION_COOKIE), held)

    const opaque = await allow(walk, stepped)
    const auth_time = Number(idTokenOf(opaque)['auth_time'])
    const age = (time === 'now' ? server.clock.now() / 1000 : signedInAt) - auth_time
    assert.ok(age >= 0 && age < 10, `The time of authentication is ${age} seconds before that ${time}.`)
    const said = async (token: string) =>
      (await postForm(server, '/v2/oauth/introspect', { token, ...credentialsOf(vault) })).json<
        Record<string, unknown>
      >()
    assert.partialDeepStrictEqual(await said(opaque.access_token), { scope: 'read pay', acr, auth_time })
    assert.partialDeepStrictEqual(idTokenOf(opaque), { acr, auth_time })
    const jwt = await allow(walk, await browser.get(urlOf(walk)))
    server.clock.advance(60_000)
    const refreshed = tokensOf(await refresh(server, client, jwt.refresh_token ?? ''))
    for (const { access_token } of [jwt, refreshed])
      assert.partialDeepStrictEqual(decodeJwt(access_token), { scope: 'read pay', acr, auth_time })
    assert.partialDeepStrictEqual(idTokenOf(refreshed), { acr, auth_time })
    const again = tokensOf(await refresh(server, client, opaque.refresh_token ?? ''))
    assert.partialDeepStrictEqual(await said(again.access_token), { acr, auth_time })
  })
}

function credentialsOf({ client_id, client_secret = '' }: RegisteredClient): Record<string, string> {
  return { client_id, client_secret }
}

test('ACR-02: without acr_values the tokens say nothing, and a scope with a requirement still needs it', async (t) => {
  const walk = await openWalk(t)
  const plain = await allow(walk, await walk.browser.get(urlOf(walk, { scope: 'openid read' })))
  assert.deepEqual([decodeJwt(plain.access_token)['acr'], idTokenOf(plain)['acr']], [undefined, undefined])
  assert.equal(decodeJwt(plain.access_token)['auth_time'], undefined)
  const asked = await allow(
    walk,
    await walk.browser.get(urlOf(walk, { scope: 'openid read', acr_values: 'phr', prompt: 'consent' })),
  )
  assert.equal(idTokenOf(asked)['acr'], 'urn:grantor:acr:1fa')
  assert.partialDeepStrictEqual(decodeJwt(asked.access_token), {
    acr: 'urn:grantor:acr:1fa',
    auth_time: idTokenOf(asked)['auth_time'],
  })
})

test('ACR-01: the issued acr is the first requested value that the session meets, or the first of default_acr_values', async (t) => {
  const walk = await openWalk(t)
  const authenticator = await addPasskey(walk)
  const [page, { browser, userId }] = [await pageOf(walk, { acr_values: 'phr' }), walk]
  await browser.post('/v2/oauth/sign-in/second-passkey', signedFields(page, { userId, authenticator }))
  for (const [acr_values, acr] of [
    ['urn:grantor:acr:2fa phr', 'urn:grantor:acr:2fa'],
    ['gold urn:grantor:acr:1fa', 'urn:grantor:acr:1fa'],
    ['gold', 'phr'],
  ] as const) {
    const tokens = await allow(walk, await browser.get(urlOf(walk, { acr_values, prompt: 'consent' })))
    assert.deepEqual([idTokenOf(tokens)['acr'], decodeJwt(tokens.access_token)['acr']], [acr, acr])
  }
  const client = await makeClient(walk.server, {}, { default_acr_values: ['urn:grantor:acr:2fa'] })
  for (const [parameters, acr] of [
    [{}, 'urn:grantor:acr:2fa'],
    [{ max_age: '100000' }, 'urn:grantor:acr:2fa'],
    [{ acr_values: 'phr' }, 'phr'],
  ] as const) {
    const url = urlOf({ client }, { ...parameters, prompt: 'consent' })
    const tokens = await allow({ ...walk, client }, await browser.get(url))
    assert.equal(decodeJwt(tokens.access_token)['acr'], acr)
  }
})

test('ACR-03: who has no second factor sees which permission is left out; a refresh that repeats its scope is not refused', async (t) => {
  const walk = await openWalk(t)
  const { server, client, browser } = walk
  const page = await pageOf(walk)
  assert.match(page.body, /Pay[^]*Needs a second step when you sign in, for which your account has nothing set up\./)
  assert.doesNotMatch(page.body, /name="allow\.pay"/)
  assert.match(page.body, /name="allow\.read"/)
  const forged = { ...hiddenFields(page), 'allow.read': 'on', 'allow.pay': 'on', decision: 'allow' }
  const code = answerOf(await browser.post('/v2/oauth/consent', forged)).get('code') ?? ''
  const tokens = tokensOf(await redeem(server, client, code))
  assert.equal(decodeJwt(tokens.access_token)['scope'], 'read')
  const again = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { scope: 'read pay' }))
  assert.equal(decodeJwt(again.access_token)['scope'], 'read')
  // The consent is remembered for what was granted. That something is missing is said each time, if a page can be shown.
  assert.match(locationOf(await browser.get(urlOf(walk))), /\/consent\?/)
  assert.ok(answerOf(await browser.get(urlOf(walk, { prompt: 'none' }))).has('code'))
  assert.ok(answerOf(await browser.get(urlOf(walk, { scope: 'openid read' }))).has('code'))
  await addApp(server)
  assert.match(locationOf(await browser.get(urlOf(walk))), /\/step-up\?/)
})

test('ACR-03: a code is no new authentication, so max_age and the age of a scope still ask for the password', async (t) => {
  const walk = await openWalk(t)
  const { server, browser } = walk
  const app = await addApp(server)
  server.clock.advance(FIRST_MS)
  const stepped = await submitTo(browser, await pageOf(walk), '/sign-in/code', { code: app.code() })
  assert.match(locationOf(stepped), /\/consent\?/)
  for (const parameters of [{ max_age: '0' }, { max_age: '300' }, { acr_values: 'urn:grantor:acr:2fa', max_age: '1' }])
    assert.match(locationOf(await browser.get(urlOf(walk, parameters))), /\/sign-in\?/)
  assert.match(locationOf(await browser.get(urlOf(walk, { max_age: '1000000' }))), /\/consent\?/)
})

test('ACR-04: a step-up sets no factor up, and works once, in its browser, session and request', async (t) => {
  const walk = await openWalk(t)
  const { server, browser, userId } = walk
  const authenticator = await addPasskey(walk)
  const app = await addApp(server)
  const page = await pageOf(walk)
  const hidden = hiddenFields({ body: passkeyForm(page) })
  const dumped = ['second_factors', 'passkeys', 'sessions'].map((name) => selectAll(server, `select * from ${name}`))
  for (const [path, fields] of [
    ['app', { code: app.code(), enrolment: 'x' }],
    ['new-passkey', signedFields(page, { userId, authenticator })],
    ['app/continue', { enabled: 'x' }],
  ] as const) {
    const refused = await browser.post(`/v2/oauth/sign-in/${path}`, { ...hidden, ...fields })
    assert.ok(refused.statusCode === 200 || refused.statusCode === 403, `${path}: ${refused.statusCode}`)
    assert.doesNotMatch(refused.body, /class="key"|sign-in\/(?:app|new-passkey)"/, path)
  }
  const code = (by: PlainBrowser, on: Response) =>
    by.post('/v2/oauth/sign-in/code', { ...hiddenFields({ body: passkeyForm(on) }), code: app.code() })
  const stranger = new PlainBrowser(server)
  assert.equal((await code(stranger, page)).statusCode, 403, 'another browser')
  const withoutSession = new PlainBrowser(server)
  for (const [cookie, value] of browser.cookies)
    if (cookie !== SESSION_COOKIE) withoutSession.cookies.set(cookie, value)
  assert.equal((await code(withoutSession, page)).statusCode, 403, 'no session')
  const other = await pageOf(walk)
  const mixed = { ...hiddenFields({ body: passkeyForm(other) }), waiting: hidden['waiting'] ?? '', code: app.code() }
  assert.equal((await browser.post('/v2/oauth/sign-in/code', mixed)).statusCode, 403, 'another request')
  assert.deepEqual(
    ['second_factors', 'passkeys', 'sessions'].map((name) => selectAll(server, `select * from ${name}`)),
    dumped,
  )
  assert.equal((await code(browser, page)).statusCode, 303)
  server.clock.advance(30_000)
  assert.equal((await code(browser, page)).statusCode, 403, 'used before')
})

test('ACR-04: a demand of phr takes no code that is posted by hand, and uses none up', async (t) => {
  const walk = await openWalk(t)
  const { server, browser } = walk
  await addPasskey(walk)
  const app = await addApp(server)
  const page = await pageOf(walk, { acr_values: 'phr' })
  const hidden = hiddenFields({ body: passkeyForm(page) })
  const stored = () =>
    ['second_factors', 'recovery_codes', 'sessions'].map((name) => selectAll(server, `select * from ${name}`))
  const before = stored()
  for (const [path, code] of [
    ['code', app.code()],
    ['recovery-code', app.recoveryCodes[0] ?? ''],
  ] as const) {
    const refused = await browser.post(`/v2/oauth/sign-in/${path}`, { ...hidden, code })
    assert.equal(refused.statusCode, 200, path)
    assert.match(refused.body, /sign-in\/second-passkey"/)
  }
  assert.deepEqual(stored(), before)
})

test('ACR-05: who continues without a factor gets less; another session, request or browser is asked again', async (t) => {
  const walk = await openWalk(t)
  const { server, client, browser } = walk
  const app = await addApp(server)
  const page = await pageOf(walk)
  assert.match(page.body, /It is needed for<[^]*<li>[^]*Pay[^]*Continue without/)
  assert.doesNotMatch(page.body, />Read</)
  const waiting = hiddenFields(page)
  assert.equal((await new PlainBrowser(server).post('/v2/oauth/step-up', waiting)).statusCode, 403, 'another browser')
  const unsealed = { ...waiting, waiting: 'x' }
  assert.equal((await browser.post('/v2/oauth/step-up', unsealed)).statusCode, 403, 'no page of a step-up')
  const consent = await submitTo(browser, page, '/step-up', {})
  assert.match(consent.body, /Pay[^]*Needs a second step, which you left out/)
  const wrong = await submitTo(browser, consent, '/consent', { decision: 'allow', 'allow.pay': 'on' })
  assert.equal(wrong.statusCode, 400, 'no box is ticked, so that nothing is left')
  const other = hiddenFields(await submitTo(browser, await pageOf(walk), '/step-up', {}))
  const own = hiddenFields(wrong)
  const mixed = { ...other, without_step_up: own['without_step_up'] ?? '', 'allow.read': 'on', decision: 'allow' }
  assert.match(locationOf(await browser.post('/v2/oauth/consent', mixed)), /\/step-up\?/, 'another request')
  const code = answerOf(await browser.post('/v2/oauth/consent', { ...own, 'allow.read': 'on', decision: 'allow' }))
  const tokens = tokensOf(await redeem(server, client, code.get('code') ?? ''))
  assert.equal(decodeJwt(tokens.access_token)['scope'], 'read')
  await submitTo(browser, await pageOf(walk), '/sign-in/code', { code: app.code() })
  const later = await browser.post('/v2/oauth/consent', { ...other, decision: 'allow', 'allow.pay': 'on' })
  assert.equal(
    decodeJwt(tokensOf(await redeem(server, client, answerOf(later).get('code') ?? '')).access_token)['scope'],
    'read pay',
    'another session',
  )
})

function passkeyForm({ body }: Response): string {
  return (body.match(/<form[^]*?<\/form>/g) ?? []).find((form) => form.includes('data-passkey')) ?? ''
}

test('ACR-02: a requirement that an API gets later takes the scope from grants of one factor, and no client has it without a user', async (t) => {
  const walk = await openWalk(t)
  const { server, client, browser } = walk
  const before = await requireApi(server.context, API)
  const scope = { name: 'sync', sentence: 'Sync', grantedTo: 'users-and-machines' } as const
  const free = { name: 'pay', sentence: 'Pay', grantedTo: 'users' } as const
  const update = (scopes: readonly ApiScope[]) =>
    requireApi(server.context, API).then((api) => updateApi(server.context, api, { scopes }))
  await update([...before.scopes.slice(0, 1), free])
  knowApis(server)
  const tokens = await allow(walk, await browser.get(urlOf(walk)))
  assert.equal(decodeJwt(tokens.access_token)['scope'], 'read pay')
  await update(SCOPES)
  knowApis(server)
  const refreshed = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
  assert.equal(decodeJwt(refreshed.access_token)['scope'], 'read')

  const approved = { name: 'wipe', sentence: 'Wipe', grantedTo: 'approved-clients' } as const
  await update([...SCOPES, scope, approved])
  knowApis(server)
  const machine = await makeClient(
    server,
    {},
    { redirect_uris: [], grant_types: ['client_credentials'], scope: 'sync wipe' as Scope },
  )
  const approval = { id: machine.client_id as ClientId, scope: 'wipe' as Scope }
  await server.context.store.approveClientScope(approval)
  const ask = () =>
    requestToken(server, machine, { grant_type: 'client_credentials', resource: API, scope: 'sync wipe' })
  assert.equal(decodeJwt(tokensOf(await ask()).access_token)['scope'], 'sync wipe')
  await update([...SCOPES, scope, { ...approved, stepUp: { level: 2, maxAge: undefined } }])
  knowApis(server)
  assert.equal(decodeJwt(tokensOf(await ask()).access_token)['scope'], 'sync')
})

/** The condition and the challenge of docs/resource-servers.md, as a function of the claims: the challenge, or undefined. */
const [, RECIPE = ''] =
  /## Step-up[^]*?```js\n([^]*?)^```$/m.exec(readFileSync('docs/resource-servers.md', 'utf8')) ?? []
const challengeFor = compileFunction(RECIPE, ['claims', 'response', 'Date']) as (
  claims: object,
  response: {
    readonly writeHead: (status: number, headers: Readonly<Record<string, string>>) => { end: () => string }
  },
  clock: { readonly now: () => number },
) => string | undefined

test('RFC 9470 §3, §4: the challenge of the API in docs/resource-servers.md leads to a token that it accepts', async (t) => {
  const walk = await openWalk(t)
  const { server, browser, userId } = walk
  const authenticator = await addPasskey(walk)
  server.clock.advance(FIRST_MS)
  const ask = (token: string) => {
    const writeHead = (status: number, headers: Readonly<Record<string, string>>) => ({
      end: () => `${status} ${headers['www-authenticate']}`,
    })
    return challengeFor(decodeJwt(token), { writeHead }, server.clock)
  }
  const weak = await allow(walk, await browser.get(urlOf(walk, { scope: 'openid read' })))
  const challenge = ask(weak.access_token) ?? ''
  assert.match(challenge, /^401 Bearer error="insufficient_user_authentication"/)
  const [acr_values = '', max_age = ''] = ['acr_values', 'max_age'].map(
    (name) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1],
  )
  const asked = { scope: 'openid read', acr_values, max_age, prompt: 'consent' }
  const signedIn = await signIn(browser, await pageOf(walk, asked))
  const page = await browser.get(locationOf(signedIn))
  const fields = signedFields(page, { userId, authenticator })
  const strong = await allow(walk, await browser.post('/v2/oauth/sign-in/second-passkey', fields))
  assert.equal(ask(strong.access_token), undefined)
})
