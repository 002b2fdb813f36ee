import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Secret } from 'otpauth'
import type { UserId } from '../../src/protocol/ids.ts'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../../tools/client-assertion.ts'
import {
  attribute,
  authorizeUrl,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  REDIRECT_URI,
  signInAndAllow,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'
import { openApp } from '../../tools/sign-in/app.ts'
import {
  coseKeyOf,
  makeKeys,
  openAuthenticator,
  type SoftwareAuthenticator,
} from '../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf, signedFields } from '../../tools/sign-in/passkeys.ts'

/** What clients, users and operators have of a server, and may use after an upgrade. It can be kept as JSON. */
export interface Held {
  readonly issuer: string
  readonly client: RegisteredClient
  readonly keyClient: { readonly id: string; readonly key: JsonWebKey }
  readonly accessToken: string
  readonly idToken: string
  refreshToken: string
  /** Of the browser in which the user is signed in, and has consented. */
  readonly cookies: Readonly<Record<string, string>>
  readonly app: HeldApp
  readonly passkey: { readonly userId: UserId; readonly credentialId: string; readonly key: JsonWebKey }
  readonly administrator: string
  readonly initialToken: string
  readonly link: string
  readonly api: { readonly id: string; readonly secret: string }
}

interface HeldApp {
  readonly email: string
  /** In base32. */
  readonly secret: string
  /** Each code works once (RFC 6238 §5.2). */
  lastStep: number
  readonly recoveryCodes: string[]
}

/** A server and its administration, of which `administrator` is the token. */
export interface Place {
  readonly issuer: string
  readonly server: RequestTarget
  readonly admin: RequestTarget
  readonly administrator: string
  /** The clock of the server. */
  readonly now: () => number
}

type Answer = Awaited<ReturnType<RequestTarget['inject']>>

const STEP_MS = 30_000
/** A timer may end a little early. */
const MARGIN_MS = 100
const USES = 1000

/** Gets one of everything, as its holders do. The user of tools/flow.ts exists. */
export async function obtainHeld(place: Place): Promise<Held> {
  const { issuer, server, administrator } = place
  const client = await registerClient(server)
  const key = makeClientKey('ES256')
  const keyClient = await registerClient(server, {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.jwk] },
  })
  const browser = new PlainBrowser(server)
  const answer = await signInAndAllow(browser, authorizeUrl(client, { scope: 'openid' }))
  const redeemed = await redeem(server, client, answer.searchParams.get('code') ?? '')
  const tokens = expect(redeemed, 200).json<Tokens & { readonly id_token: string }>()
  const linked = await createUser(place)
  const resource = `https://${randomUUID()}.example`
  await administer(place, 'POST', '/apis', { resource, name: 'An API', scopes: [] })
  return {
    issuer,
    client,
    keyClient: { id: keyClient.client_id, key: key.privateKey.export({ format: 'jwk' }) },
    accessToken: tokens.access_token,
    idToken: tokens.id_token,
    refreshToken: tokens.refresh_token ?? '',
    cookies: Object.fromEntries(browser.cookies),
    app: await setUpApp(place),
    passkey: await addPasskey(place),
    administrator,
    initialToken: (await administer(place, 'POST', '/initial-tokens', { name: 'A program', uses: USES }))[
      'initial_access_token'
    ] as string,
    link: (await administer(place, 'POST', `/users/${linked.user_id}/link`, {}))['link'] as string,
    api: (await administer(place, 'POST', `/apis/${encodeURIComponent(resource)}/credentials`, {})) as {
      readonly id: string
      readonly secret: string
    },
  }
}

/** Uses everything that is held, but for what works once and is needed later. Says what no longer works, each with its name. */
export async function faultsOfHeld(place: Place, held: Held): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [name, use] of Object.entries(USES_OF)) {
    try {
      await use(place, held)
    } catch (cause) {
      faults.push(`${name}: ${(cause as Error).message.slice(0, 500)}`)
    }
  }
  return faults
}

/** How each of them is used. @throws Error if it does not work */
const USES_OF: Readonly<Record<string, (place: Place, held: Held) => Promise<void>>> = {
  async 'the secret'({ server }, { client }) {
    expect(await requestToken(server, client, { grant_type: 'client_credentials' }), 200)
  },
  async 'the key of a client'({ issuer, server, now }, { keyClient: { id, key } }) {
    const privateKey = createPrivateKey({ key, format: 'jwk' })
    const signer = { algorithm: 'ES256', privateKey, jwk: {} } as const
    const form = assertionForm(signJws(signer, { alg: 'ES256' }, assertionClaims(id, issuer, now())))
    expect(await requestToken(server, { client_id: id }, { grant_type: 'client_credentials', ...form }), 200)
  },
  async 'the access token'(place, { client, accessToken }) {
    await verifySigned(place, accessToken)
    const { client_id, client_secret = '' } = client
    const form = { token: accessToken, client_id, client_secret }
    const answer = expect(await postForm(place.server, '/v2/oauth/introspect', form), 200)
    if (!answer.json<{ readonly active: boolean }>().active) throw new Error('It is not active.')
  },
  'the ID token': (place, { idToken }) => verifySigned(place, idToken),
  async 'the refresh token'({ server }, held) {
    const renewed = expect(await refresh(server, held.client, held.refreshToken), 200)
    held.refreshToken = renewed.json<Tokens>().refresh_token ?? ''
  },
  async 'the registration token'({ server }, { client }) {
    const { pathname, search } = new URL(String(client['registration_client_uri']))
    const authorization = `Bearer ${String(client['registration_access_token'])}`
    expect(await server.inject({ url: `${pathname}${search}`, headers: { authorization } }), 200)
  },
  async 'the session and the consent'({ server }, { client, cookies }) {
    const browser = new PlainBrowser(server)
    for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, value)
    const answer = new URL(locationOf(await browser.get(authorizeUrl(client, { prompt: 'none', scope: 'openid' }))))
    const code = answer.searchParams.get('code')
    if (code === null) throw new Error(`It leads to ${answer.search}`)
    expect(await redeem(server, client, code), 200)
  },
  async 'the app'(place, { app }) {
    const browser = new PlainBrowser(place.server)
    const page = await doFirstStep(browser, app.email)
    await expectSession(browser, await submitTo(browser, page, '/sign-in/code', { code: await nextCode(place, app) }))
  },
  async 'a recovery code'({ server }, { app }) {
    const browser = new PlainBrowser(server)
    const page = await doFirstStep(browser, app.email)
    const code = app.recoveryCodes.shift() ?? ''
    await expectSession(browser, await submitTo(browser, page, '/sign-in/recovery-code', { code }))
  },
  async 'the passkey'({ issuer, server }, { passkey }) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get('/account/security')))
    const said = { userId: passkey.userId, authenticator: authenticatorOf(passkey), origin: issuer }
    await expectSession(browser, await browser.post(passkeyFormOf(page).action, signedFields(page, said)))
  },
  async 'the token of an administrator'(place, { administrator }) {
    await administer({ ...place, administrator }, 'GET', '/users')
  },
  async 'the initial access token'({ server }, { initialToken }) {
    const answer = await server.inject({
      method: 'POST',
      url: '/v2/oauth/register',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${initialToken}` },
      payload: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
    })
    expect(answer, 201)
  },
  async 'the link'({ server }, { link }) {
    const page = expect(await new PlainBrowser(server).get(link), 200)
    if (!page.body.includes('type="password"')) throw new Error(`It shows ${page.body}`)
  },
  async 'the credentials of an API'({ server }, { api, accessToken }) {
    const authorization = `Basic ${btoa(`${api.id}:${api.secret}`)}`
    expect(await postForm(server, '/v2/oauth/introspect', { token: accessToken }, { authorization }), 200)
  },
}

async function setUpApp(place: Place): Promise<HeldApp> {
  const { email } = await createUser(place)
  const browser = new PlainBrowser(place.server)
  const page = expect(await openAccount(browser, '/account/security/app', email), 200)
  const secret = /<code class="key">([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1]?.replaceAll(' ', '') ?? ''
  const app: HeldApp = { email, secret, lastStep: 0, recoveryCodes: [] }
  const shown = expect(await browser.submit(page, { code: await nextCode(place, app) }), 200)
  app.recoveryCodes.push(...[...shown.body.matchAll(/<li><code>([a-z0-9-]{19})<\/code>/g)].map(([, code = '']) => code))
  return app
}

async function addPasskey(place: Place): Promise<Held['passkey']> {
  const { email } = await createUser(place)
  const browser = new PlainBrowser(place.server)
  const page = expect(await openAccount(browser, '/account/security/add-passkey', email), 200)
  const userId = passkeyFormOf(page).asked.user?.id as UserId
  const { privateKey } = makeKeys('ES256')
  const key = privateKey.export({ format: 'jwk' })
  const authenticator = authenticatorOf({ key })
  const added = await browser.post(
    passkeyFormOf(page).action,
    madeFields(page, authenticator, { origin: place.issuer }),
  )
  if (added.statusCode !== 303) throw new Error(`The passkey is not added: ${added.statusCode} ${added.body}`)
  return { userId, credentialId: authenticator.credentialId, key }
}

function authenticatorOf({
  key,
  credentialId,
}: {
  readonly key: JsonWebKey
  readonly credentialId?: string
}): SoftwareAuthenticator {
  const privateKey = createPrivateKey({ key, format: 'jwk' })
  const keys = { privateKey, publicKey: createPublicKey(privateKey) }
  return openAuthenticator('ES256', coseKeyOf, keys, credentialId)
}

/** A user with a password, and no other sign-in method. */
export async function createUser(place: Place): Promise<{ readonly email: string; readonly user_id: string }> {
  const email = `${randomUUID()}@acme.test`
  const { user_id } = await administer(place, 'POST', '/users', { email, password: PASSWORD })
  return { email, user_id: user_id as string }
}

/** Performs a task of an administrator over HTTP. @throws Error if it is refused */
export async function administer(
  { admin, administrator }: Place,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  input?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await admin.inject({
    method,
    url: `/admin/v1${path}`,
    headers: { authorization: `Bearer ${administrator}`, 'content-type': 'application/json' },
    ...(input !== undefined && { payload: JSON.stringify(input) }),
  })
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} is answered ${answer.statusCode} ${answer.body}`)
  return answer.body === '' ? {} : answer.json<Readonly<Record<string, unknown>>>()
}

/** A resource server or client verifies a token with the keys that the server publishes. RFC 9068 §4, OpenID Connect Core §3.1.3.7. */
async function verifySigned({ server, issuer, now }: Place, token: string): Promise<void> {
  const { jwks_uri } = expect(await server.inject({ url: '/.well-known/oauth-authorization-server' }), 200).json<{
    readonly jwks_uri: string
  }>()
  const keys = expect(await server.inject({ url: new URL(jwks_uri).pathname }), 200).json<JSONWebKeySet>()
  await jwtVerify(token, createLocalJWKSet(keys), { issuer, currentDate: new Date(now()) })
}

/**
 * The code of a time step that was not used yet: the present one, or the next one, which the server takes too, so that it is right for at
 * least half a minute. Waits for it if need be.
 */
async function nextCode({ now: clock }: Pick<Place, 'now'>, app: HeldApp): Promise<string> {
  const now = clock()
  const step = Math.max(app.lastStep + 1, Math.floor(now / STEP_MS))
  const from = (step - 1) * STEP_MS
  if (now < from) await delay(from - now + MARGIN_MS)
  app.lastStep = step
  return openApp(() => step * STEP_MS, Secret.fromBase32(app.secret), []).code()
}

/** Goes to the page of the second step with the right password. */
async function doFirstStep(browser: PlainBrowser, email: string): Promise<Answer> {
  const signIn = await browser.get(locationOf(await browser.get('/account/security')))
  return expect(await browser.submit(signIn, { email, password: PASSWORD }), 200)
}

/** The page at a path, after signing in by password. */
export async function openAccount(browser: PlainBrowser, path: string, email: string): Promise<Answer> {
  const signIn = await browser.get(locationOf(await browser.get(path)))
  const signedIn = await browser.submit(signIn, { email, password: PASSWORD })
  return browser.get(locationOf(signedIn))
}

/** Submits the form of a page that is posted to an address with this end. */
function submitTo(
  browser: PlainBrowser,
  page: Answer,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Answer> {
  const forms = page.body.match(/<form[^]*?<\/form>/g) ?? []
  const form = forms.find((one) => attribute(one, 'action').endsWith(path))
  if (form === undefined) throw new Error(`${path} is not in ${page.body}`)
  return browser.post(attribute(form, 'action'), { ...hiddenFields({ body: form }), ...fields })
}

/** The sign-in started a session, with which the browser sees the account. */
async function expectSession(browser: PlainBrowser, answer: Answer): Promise<void> {
  expect(answer, 303)
  expect(await browser.get('/account/security'), 200)
}

/** @throws Error if the answer has another status */
function expect(answer: Answer, status: number): Answer {
  if (answer.statusCode === status) return answer
  throw new Error(`${answer.statusCode} ${answer.headers.location ?? ''} ${answer.body}`)
}
