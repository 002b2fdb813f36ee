import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response } from 'light-my-request'
import type { ApiScope, ScopeStepUp } from '../../../src/ports/records/api.ts'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import {
  authorizeUrl,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openTestServer } from '../../support/server.ts'
import { submitTo } from '../../support/sign-in/apps.ts'
import { makeClient, tokensOf } from '../openid/login.ts'
import { pageSays } from '../../texts/page-texts.ts'

/**
 * What follows from a session of one factor: first sign-in × factors of the account × what the client asks for × age of the session ×
 * prompt. All scopes were allowed before they had requirements, so that a consent page comes only where a scope is left out (threats.md ACR-03).
 */

const API = 'https://bank.example'
const TWO = 'urn:grantor:acr:2fa'
const STEP_UPS: Readonly<Record<string, ScopeStepUp | undefined>> = {
  read: undefined,
  pay: { level: 2, maxAge: undefined },
  transfer: { level: 2, maxAge: 300 },
  admin: { level: 3, maxAge: undefined },
  erase: { level: 3, maxAge: 300 },
}

const host = await openProviderHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_REDIRECT_ERRORS: 'true' } })
await addProvider(server, host, { signUp: 'anybody' })
const scopes = Object.keys(STEP_UPS).map((name) => ({ name, sentence: `May ${name}`, grantedTo: 'users' }) as const)
await declareApi(server, API, {}, scopes)
knowApis(server)
const client = await makeClient(server)

const ACCOUNTS = { nothing: [], 'an app': ['app'], 'a passkey': ['passkey'], both: ['passkey', 'app'] } as const
type Account = keyof typeof ACCOUNTS
const METHODS = { 'a password': byPassword, 'a provider': atProvider } as const

async function byPassword(browser: PlainBrowser, page: Response, email: string): Promise<Response> {
  await createAccount(server, { email, password: PASSWORD, name: undefined })
  return browser.submit(page, { email, password: PASSWORD })
}

function atProvider(browser: PlainBrowser, page: Response, email: string): Promise<Response> {
  return signInAt({ browser, page, host }, { ...freshClaims(server), sub: email, email }, {}, 'idp')
}

/** A browser with a session of one factor, whose user got the factors after that, and then allowed all scopes: an app ends consents. */
async function openSession(method: keyof typeof METHODS, account: Account): Promise<PlainBrowser> {
  const browser = new PlainBrowser(server)
  const email = `${method}-${account}@acme.test`.replaceAll(' ', '-')
  const start = await browser.get(locationOf(await browser.get('/account/security/add-passkey')))
  await METHODS[method](browser, start, email)
  for (const factor of ACCOUNTS[account]) {
    if (factor === 'app') await addApp(server, email)
    else {
      const page = await browser.get('/account/security/add-passkey')
      assert.match(
        locationOf(await browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))),
        /security/,
      )
    }
  }
  await signInAndAllow(browser, urlOf({ scope: Object.keys(STEP_UPS).join(' ') }))
  return browser
}

const sessions = new Map<string, PlainBrowser>()
for (const method of Object.keys(METHODS) as (keyof typeof METHODS)[])
  for (const account of Object.keys(ACCOUNTS) as Account[])
    sessions.set(`${method}, ${account}`, await openSession(method, account))

const before = await requireApi(server.context, API)
await updateApi(server.context, before, {
  scopes: scopes.map((scope) => withStepUp(scope, STEP_UPS[scope.name])),
})
knowApis(server)

function withStepUp(scope: ApiScope, stepUp: ScopeStepUp | undefined): ApiScope {
  return stepUp === undefined ? scope : { ...scope, stepUp }
}

const CODES = 'step-up: code recovery-code'
const PASSKEY = 'step-up: passkey'
const ALL = 'step-up: code recovery-code passkey'
const UNMET = 'unmet_authentication_requirements'
/** What the account sets up where nothing is left without a second factor. */
const SET_UP = 'set-up: app new-passkey'
const SET_UP_PASSKEY = 'set-up: new-passkey'
const essential = (value: string) => JSON.stringify({ id_token: { acr: { essential: true, value } } })

/** What follows for a user with nothing, an app, a passkey, and both. A code: the scope of the token, and its `acr`. */
const DEMANDS: readonly (readonly [
  demand: string,
  parameters: Readonly<Record<string, string>>,
  fresh: readonly [string, string, string, string] | string,
  old?: readonly [string, string, string, string] | string,
])[] = [
  ['nothing', { scope: 'read' }, 'code: read'],
  ['max_age', { scope: 'read', max_age: '300' }, 'code: read, urn:grantor:acr:1fa', 'sign-in'],
  ['2fa', { scope: 'read', acr_values: TWO }, ['code: read, urn:grantor:acr:1fa', CODES, PASSKEY, ALL]],
  ['2fa or 1fa', { scope: 'read', acr_values: `${TWO} urn:grantor:acr:1fa` }, 'code: read, urn:grantor:acr:1fa'],
  [
    'phr or 2fa',
    { scope: 'read', acr_values: `phr ${TWO}` },
    ['code: read, urn:grantor:acr:1fa', CODES, PASSKEY, PASSKEY],
  ],
  ['an unknown value', { scope: 'read', acr_values: 'gold' }, 'code: read, urn:grantor:acr:1fa'],
  ['2fa, essential', { scope: 'read', claims: essential(TWO) }, [SET_UP, CODES, PASSKEY, ALL]],
  ['phr, essential', { scope: 'read', claims: essential('phr') }, [SET_UP_PASSKEY, UNMET, PASSKEY, PASSKEY]],
  ['a scope with 2fa', { scope: 'read pay' }, ['code: read', CODES, PASSKEY, ALL]],
  ['a scope with phr', { scope: 'read admin' }, ['code: read', 'code: read', PASSKEY, PASSKEY]],
  ['scopes with 2fa and phr', { scope: 'read pay admin' }, ['code: read', CODES, PASSKEY, PASSKEY]],
  ['only a scope with phr', { scope: 'admin' }, [SET_UP_PASSKEY, UNMET, PASSKEY, PASSKEY]],
  [
    'a scope with 2fa and an age',
    { scope: 'read transfer' },
    ['code: read', CODES, PASSKEY, ALL],
    ['code: read', 'sign-in', 'sign-in', 'sign-in'],
  ],
  [
    'a scope with phr and an age',
    { scope: 'read erase' },
    ['code: read', 'code: read', PASSKEY, PASSKEY],
    ['code: read', 'code: read', 'sign-in', 'sign-in'],
  ],
  [
    'a scope with phr and an age, max_age',
    { scope: 'read erase', max_age: '300' },
    ['code: read, urn:grantor:acr:1fa', 'code: read, urn:grantor:acr:1fa', PASSKEY, PASSKEY],
    'sign-in',
  ],
  [
    'a scope with 2fa, and phr essential',
    { scope: 'read pay', claims: essential('phr') },
    [SET_UP_PASSKEY, UNMET, PASSKEY, PASSKEY],
  ],
]

for (const age of ['new', 'old'] as const) {
  for (const [name, browser] of sessions) {
    test(`ACR-01 to ACR-03: ${name}, ${age}: each demand and prompt`, async () => {
      if (age === 'old' && name === [...sessions.keys()][0]) server.clock.advance(400_000)
      const position = Object.keys(ACCOUNTS).indexOf(name.split(', ')[1] ?? '')
      for (const [demand, parameters, fresh, old] of DEMANDS) {
        const row = (age === 'old' ? old : undefined) ?? fresh
        const now = (typeof row === 'string' ? row : row[position]) ?? ''
        // A factor is set up a moment after a sign-in.
        const usual = age === 'old' && now.startsWith('set-up') ? 'set-up: sign-in' : now
        // What the account cannot give is left out, and a page says so, if one can be shown.
        const shown = usual.startsWith('code') && parameters['scope'] !== 'read' ? `consent, ${usual}` : usual
        const silent = /^s(?:tep-up|ign-in)/.test(usual) ? 'login_required' : usual.startsWith('set-up') ? UNMET : usual
        assert.equal(
          await followed(browser, await browser.get(await pushedUrl(parameters))),
          shown,
          `${demand}, pushed`,
        )
        for (const [prompt, expected] of [
          ['', shown],
          ['none', silent],
          ['login', 'sign-in'],
        ] as const) {
          const url = urlOf({ ...parameters, ...(prompt === '' ? {} : { prompt }) })
          const what = `${demand}, prompt=${prompt}`
          const answer = await browser.get(url)
          assert.equal(await followed(browser, answer), expected, what)
          if (!/^(?:step-up|set-up: (?!sign-in))/.test(expected)) continue
          const without = typeof fresh === 'string' ? fresh : fresh[0]
          assert.equal(await declined(browser, answer), without.startsWith('set-up') ? UNMET : without, what)
        }
      }
    })
  }
}

/** What the browser is sent to. */
async function followed(browser: PlainBrowser, answer: Response): Promise<string> {
  const location = new URL(locationOf(answer), server.origin)
  const name = location.pathname.split('/').at(-1) ?? ''
  const [error, code] = ['error', 'code'].map((parameter) => location.searchParams.get(parameter))
  if (error !== null && error !== undefined) return error
  if (code !== null && code !== undefined) {
    const token = tokensOf(await redeem(server, client, code)).access_token
    const { scope, acr } = decodeJwt<{ readonly scope: string; readonly acr?: string }>(token)
    return `code: ${scope}${acr === undefined ? '' : `, ${acr}`}`
  }
  if (name === 'consent') {
    const page = await browser.get(location.pathname + location.search)
    assert.match(page.body, pageSays('scopeNeedsStep.withheld'))
    const allowed = await browser.submit(page, { decision: 'allow', 'allow.read': 'on' })
    return `consent, ${await followed(browser, allowed)}`
  }
  if (name === 'set-up') {
    const page = await browser.get(location.pathname + location.search)
    if (page.statusCode === 303) return `set-up: ${new URL(locationOf(page)).pathname.split('/').at(-1)}`
    return `set-up: ${['app', 'new-passkey'].filter((way) => page.body.includes(`/sign-in/${way}"`)).join(' ')}`
  }
  if (name !== 'step-up') return name
  const { body } = await browser.get(location.pathname + location.search)
  assert.doesNotMatch(body, /sign-in\/(?:app|new-passkey)"/, 'ACR-04: no factor is set up')
  const ways = ['code', 'recovery-code', 'second-passkey'].filter((way) => body.includes(`/sign-in/${way}"`))
  return `step-up: ${ways.join(' ').replace('second-', '')}`
}

/** What follows from the button for users who cannot confirm: as if the account had no factor. */
async function declined(browser: PlainBrowser, answer: Response): Promise<string> {
  const page = await browser.get(locationOf(answer))
  const followedTo = await followed(browser, await submitTo(browser, page, '/step-up', {}))
  const form = page.body.slice(page.body.indexOf('/step-up"'))
  assert.match(form, followedTo === UNMET ? />Cancel</ : />Continue without</)
  assert.match(form, /href="[^"]*\/sign-in\?authorization=[^"]*">Sign in with another account</)
  return followedTo
}

/** RFC 9126 §4: the same, from a pushed request. */
async function pushedUrl(parameters: Readonly<Record<string, string>>): Promise<string> {
  const { client_id, client_secret = '' } = client
  const pushed = new URLSearchParams(urlOf(parameters).split('?')[1])
  pushed.set('client_secret', client_secret)
  const { request_uri } = (await postForm(server, '/v2/oauth/par', pushed)).json<{ readonly request_uri: string }>()
  return `/v2/oauth/authorize?${new URLSearchParams({ client_id, request_uri }).toString()}`
}

function urlOf(parameters: Readonly<Record<string, string>>): string {
  return authorizeUrl(client, { resource: API, ...parameters })
}
