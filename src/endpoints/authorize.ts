import type { Context } from '../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../ports/message.ts'
import type { AuthorizationRecord, ClientRecord } from '../ports/records.ts'
import {
  readAuthorizationRequest,
  readState,
  type AuthorizationFault,
  type AuthorizationRequest,
} from '../protocol/authorization-request.ts'
import { answerUri, type RefusalCode } from '../protocol/authorization-response.ts'
import { after } from '../protocol/brand.ts'
import { defaultScope } from '../protocol/client-metadata.ts'
import { mintAuthorizationId, mintOrderedId, parseClientId } from '../protocol/ids.ts'
import type { Parameters } from '../protocol/message.ts'
import { judgeRedirectUri, redirectUriMatches, type RedirectUri } from '../protocol/redirect-uri.ts'
import type { Resource } from '../protocol/resource.ts'
import { isWithin, narrow, type Scope } from '../protocol/scope.ts'
import { viewClient } from './client-view.ts'
import { identityStart, isRemembered } from './consent-memory.ts'
import { approve } from './decide.ts'
import { errorPage } from './error-page.ts'
import { openBrowser } from './interaction.ts'
import { allowsScope, findOffers, findResource, refusedTokens, type Offers } from './offers.ts'
import { PATHS, pageAddress } from './paths.ts'
import { findSignedIn, type SignedIn } from './signed-in.ts'

/** Client and redirect URI are known good from here on; RFC 6749 §4.1.2.1 lets errors go there. */
interface Trusted {
  readonly client: ClientRecord
  readonly redirectUri: RedirectUri
  readonly state: string | undefined
}

/**
 * Authorization endpoint. RFC 6749 §3.1 and §4.1.1, RFC 7636 §4.3, RFC 8707 §2, RFC 9207.
 *
 *  §4.1.2.1  Until client and redirect URI are known good there is a page and never a redirect.
 *  §4.1.1    Then the request is checked whole; a fault goes back to the client. While nobody vouches for the client, by a
 *            page with a link: a redirect on demand would make everybody who registers an open redirector.
 *  §3.1      A good request is kept, bound to this browser, and the person is asked to sign in and to consent.
 */
export async function authorize(context: Context, request: Request): Promise<Reply> {
  const now = context.clock()
  if (!context.budgets.take('authorization', request.network, now).isWithin) return errorPage('too-many-requests')
  const trusted = await establishTrust(context, request)
  if ('kind' in trusted) return trusted

  const signedIn = await findSignedIn(context, request.cookies)
  const reading = readAuthorizationRequest(request.params)
  if (reading.kind === 'refused') return refuse(context, trusted, signedIn, reading.error, reading.reason)
  const aim = aimAt(await findOffers(context), trusted.client, reading.request)
  if ('error' in aim) return refuse(context, trusted, signedIn, aim.error, aim.reason)

  const silent = reading.request.prompts.has('none')
  const isKnown =
    signedIn !== undefined && (await isRemembered(context, trusted.client, { ...trusted, ...aim }, signedIn.user.id))
  if (silent && signedIn === undefined) return refuse(context, trusted, signedIn, 'login_required', 'no_session')
  if (silent && !isKnown) return refuse(context, trusted, signedIn, 'consent_required', 'no_consent')

  const { authorization, cookies } = await start(context, request, trusted, reading.request, aim)
  if (signedIn === undefined || authorization.mustSignIn)
    return toPage(context, PATHS.signIn, request, authorization, cookies)
  if (!isKnown || authorization.mustConsent) return toPage(context, PATHS.consent, request, authorization, cookies)
  return approve(context, authorization, trusted.client, signedIn.user.id, cookies)
}

async function establishTrust(context: Context, { method, params, query }: Request): Promise<Trusted | Reply> {
  if (method === 'POST' && query.names.length > 0) return errorPage('request-malformed')
  if (params.repeated.includes('client_id') || params.repeated.includes('redirect_uri'))
    return errorPage('request-malformed')
  const id = parseClientId(params.get('client_id') ?? '')
  const client = id === undefined ? undefined : await context.store.findClient(id)
  if (client === undefined || client.disabledAt !== undefined) return errorPage('client-unknown')
  const redirectUri = chooseRedirectUri(context, client, params)
  if (redirectUri === undefined) return errorPage('redirect-unknown')
  return { client, redirectUri, state: readState(params) }
}

/** RFC 6749 §3.1.2.3: it must be a registered one; it may be left out when one is registered. */
function chooseRedirectUri(context: Context, client: ClientRecord, params: Parameters): RedirectUri | undefined {
  const registered = client.metadata.redirectUris
  const presented = params.get('redirect_uri') ?? (registered.length === 1 ? registered[0] : undefined)
  if (presented === undefined || !registered.some((one) => redirectUriMatches(one, presented))) return undefined
  // Judged again: a loopback port may lead to ourselves, and a scheme may have been registered without being allowed.
  const policy = { schemes: context.settings.redirectSchemes, ownOrigin: new URL(context.issuer).origin }
  return judgeRedirectUri(presented, policy).kind === 'usable' ? (presented as RedirectUri) : undefined
}

interface Aim {
  readonly scope: Scope
  readonly resources: readonly Resource[]
}
interface Fault {
  readonly error: RefusalCode
  readonly reason: AuthorizationFault
}

/** What the code will be for: within what the client registered and what the APIs offer (decisions.md D6). */
function aimAt(offers: Offers, client: ClientRecord, request: AuthorizationRequest): Aim | Fault {
  if (!client.metadata.grantTypes.includes('authorization_code')) {
    return { error: 'unauthorized_client', reason: 'grant_type_not_registered' }
  }
  if (request.organization !== undefined) return { error: 'invalid_request', reason: 'organization_mismatch' }
  const resources: Resource[] = []
  for (const asked of request.resources) {
    const resource = findResource(offers, asked)
    if (resource === undefined) return { error: 'invalid_target', reason: 'resource_unknown' }
    resources.push(resource)
  }
  if (request.scope === undefined) {
    const scope = narrow(defaultScope(client.metadata), (token) => allowsScope(offers, token, resources, 'user'))
    return { scope, resources }
  }
  const registered = client.metadata.scope
  const isRegistered = registered === undefined || isWithin(request.scope, registered)
  if (!isRegistered || refusedTokens(offers, request.scope, resources, 'user').length > 0) {
    return { error: 'invalid_scope', reason: 'scope_not_allowed' }
  }
  return { scope: request.scope, resources }
}

/** decisions.md D8: by redirect for clients that somebody vouches for, by a page that names the host for all others. */
async function refuse(
  context: Context,
  { client, redirectUri, state }: Trusted,
  signedIn: SignedIn | undefined,
  error: RefusalCode,
  reason: AuthorizationFault,
): Promise<Reply> {
  const event = { event: 'authorization.refused', client: client.id, reason }
  const location = answerUri(redirectUri, { kind: 'error', error }, state, context.issuer)
  const isVouchedFor =
    client.verifiedAt !== undefined ||
    context.settings.redirectErrors ||
    (signedIn !== undefined && (await context.store.hasConsented(signedIn.user.id, client.id, identityStart(client))))
  if (isVouchedFor) return { kind: 'redirect', location, event }
  const view = viewClient(client, redirectUri, context.clock())
  return {
    kind: 'page',
    status: 400,
    page: { kind: 'return', problem: error, client: view, returnUri: location },
    event,
  }
}

async function start(
  context: Context,
  request: Request,
  { client, redirectUri, state }: Trusted,
  { codeChallenge, prompts, loginHint }: AuthorizationRequest,
  aim: Aim,
): Promise<{ authorization: AuthorizationRecord; cookies: CookieChanges }> {
  const now = context.clock()
  const known = openBrowser(context, request)
  const fresh = context.secrets.seal('browser', mintOrderedId(now, context.random), context.random)
  const expiresAt = after(now, context.settings.lifetimes.authorization * 1000)
  const authorization: AuthorizationRecord = {
    ...aim,
    id: mintAuthorizationId(now, context.random),
    clientId: client.id,
    browserHash: known ?? fresh.hash,
    redirectUri,
    state,
    codeChallenge,
    mustSignIn: prompts.has('login'),
    mustConsent: prompts.has('consent'),
    loginHint,
    createdAt: now,
    expiresAt,
    status: { kind: 'pending' },
  }
  await Promise.all([
    context.store.startAuthorization(authorization),
    client.usedAt === undefined
      ? context.store.holdClient({ id: client.id, until: after(expiresAt, context.settings.lifetimes.code * 1000) })
      : undefined,
  ])
  return { authorization, cookies: known === undefined ? { browser: fresh } : {} }
}

function toPage(
  { issuer }: Context,
  path: string,
  { uiLocales }: Request,
  { id }: AuthorizationRecord,
  cookies: CookieChanges,
): Reply {
  return { kind: 'redirect', location: pageAddress(issuer, path, { authorization: id, uiLocales }), cookies }
}
