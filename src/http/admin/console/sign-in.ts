import { createHash } from 'node:crypto'
import { RETURN_LIMIT, type ConsoleRequest } from '../../../console/engine/context.ts'
import { PATHS } from '../../../endpoints/paths.ts'
import { token } from '../../../endpoints/token/token.ts'
import type { Context } from '../../../ports/context.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { parseJson } from '../../../base/json.ts'
import { NO_PARAMETERS, parseForm } from '../../../base/message.ts'
import { CONSOLE_CLIENT_ID, CONSOLE_PATH, CONSOLE_SCOPE, consoleCallback } from '../../../protocol/client/console.ts'
import { invalidRequest } from '../../../protocol/errors.ts'
import { grantIdOf, type AuthorizationId, type GrantId } from '../../../protocol/ids.ts'
import { ACR_VALUES } from '../../../protocol/sign-in/acr.ts'
import { addressOf } from '../../../protocol/uri/server-address.ts'

/** How long a person may take to sign in. */
const STATE_MS = 10 * 60 * 1000

/** A sign-in that begins: where the browser goes, and the value that binds it to the browser. */
export interface Beginning {
  readonly location: string
  readonly browserKey: string
}

/** What came back from a sign-in. */
export type Arrival =
  | { readonly kind: 'signed-in'; readonly grantId: GrantId; readonly returnTo: string }
  /** The account has no second factor, which the console needs. */
  | { readonly kind: 'one-factor' }
  /** The person denied it, or the issuer refused it. */
  | { readonly kind: 'refused' }

/** The members of a state, which is sealed for one browser. */
type State = readonly [nonce: string, madeAt: EpochMs, returnTo: string]

/**
 * Begins a sign-in: the console is a client of this server, and asks for `openid` and nothing else (decision 0041). Two factors are
 * essential, unless the issuer is a loopback address. `isFresh`: the person authenticates now, whatever session there is. `loginHint`: the address
 * of the person whose session continues, which the sign-in page then has.
 */
export function beginSignIn(
  { clock, issuer, random, secrets, settings }: Pick<Context, 'clock' | 'issuer' | 'random' | 'secrets' | 'settings'>,
  origin: string,
  {
    browserKey,
    returnTo,
    isFresh,
    loginHint,
  }: {
    readonly browserKey: string | undefined
    readonly returnTo: string
    readonly isFresh: boolean
    readonly loginHint: string | undefined
  },
): Beginning {
  const key = browserKey ?? random(16).toString('base64url')
  const [path = ''] = returnTo.split('?', 1)
  const back = [returnTo, path].find((address) => address.length <= RETURN_LIMIT) ?? CONSOLE_PATH
  const members: State = [random(16).toString('base64url'), clock(), back]
  const payload = Buffer.from(JSON.stringify(members)).toString('base64url')
  const state = `${payload}.${secrets.digest('console', ['state', key, payload])}`
  const [, two, three] = ACR_VALUES
  const acr = { values: [two, three], essential: !settings.isLoopbackIssuer }
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CONSOLE_CLIENT_ID,
    redirect_uri: consoleCallback(origin),
    scope: CONSOLE_SCOPE,
    state,
    code_challenge: createHash('sha256')
      .update(verifierOf({ secrets }, key, state))
      .digest('base64url'),
    code_challenge_method: 'S256',
    claims: JSON.stringify({ id_token: { acr } }),
    ...(isFresh ? { max_age: '0' } : {}),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  })
  return { location: `${addressOf(issuer, PATHS.authorize)}?${query.toString()}`, browserKey: key }
}

/** The verifier of PKCE is not stored: it follows from the state and the browser, so no other browser can redeem the code (CON-16). */
function verifierOf({ secrets }: Pick<Context, 'secrets'>, browserKey: string, state: string): string {
  return secrets.digest('console', ['verifier', browserKey, state])
}

/**
 * Ends a sign-in: compares state, browser and issuer, and redeems the code. The tokens are dropped: the session of the console is the grant.
 *
 * @throws OAuthError invalid_request, and those of the token endpoint
 */
export async function finishSignIn(
  context: Context,
  origin: string,
  browserKeys: readonly string[],
  request: ConsoleRequest,
): Promise<Arrival> {
  const { query } = request
  const state = query.get('state') ?? ''
  const browserKey = browserKeys.find((key) => isOfBrowser(context, key, state))
  const returnTo = await openState(context, browserKey, state)
  if (returnTo === undefined || browserKey === undefined || query.get('iss') !== context.issuer) throw refused()
  const code = query.get('code')
  if (code === undefined)
    return { kind: query.get('error') === 'unmet_authentication_requirements' ? 'one-factor' : 'refused' }
  const opened = context.secrets.verify('authorization-code', code)
  if (opened === undefined) throw refused()
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: CONSOLE_CLIENT_ID,
    code,
    redirect_uri: consoleCallback(origin),
    code_verifier: verifierOf(context, browserKey, state),
  })
  await token(context, {
    id: request.requestId,
    method: 'POST',
    params: parseForm(form.toString()) ?? NO_PARAMETERS,
    query: NO_PARAMETERS,
    body: '',
    name: undefined,
    authorization: undefined,
    dpop: undefined,
    cookies: { browser: [], session: [] },
    network: request.network,
    callerNetwork: request.network,
    origin: undefined,
    agent: undefined,
    fetchSite: undefined,
    isInFrame: false,
    uiLocales: undefined,
    language: 'en',
  })
  return { kind: 'signed-in', grantId: grantIdOf(opened.id as AuthorizationId), returnTo }
}

function isOfBrowser({ secrets }: Pick<Context, 'secrets'>, browserKey: string, state: string): boolean {
  const [payload = '', mac = ''] = state.split('.', 2)
  return secrets.digestMatches('console', ['state', browserKey, payload], mac)
}

/** Returns where the person goes on, once for each state that this server made for this browser. */
async function openState(
  { clock, secrets, store }: Pick<Context, 'clock' | 'secrets' | 'store'>,
  browserKey: string | undefined,
  state: string,
): Promise<string | undefined> {
  if (browserKey === undefined) return undefined
  const [payload = ''] = state.split('.', 1)
  const [, madeAt, returnTo] = parseJson(Buffer.from(payload, 'base64url').toString()) as State
  const now = clock()
  const expiresAt = after(madeAt, STATE_MS)
  if (expiresAt <= now || isFromFuture(madeAt, now)) return undefined
  const digest = secrets.digest('console', ['used', payload])
  return (await store.consumeOnce([{ digest, expiresAt }])) === 'fresh' ? returnTo : undefined
}

function refused() {
  return invalidRequest('console_sign_in_failed')
}
