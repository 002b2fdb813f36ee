import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import {
  readAuthorizationRequest,
  readResponseMode,
  readState,
  replacesPkce,
  type AuthorizationRequest,
} from '../../protocol/authorization/request.ts'
import { after } from '../../base/brand.ts'
import { describeSentUri } from '../../protocol/uri/canonical-uri.ts'
import { identifierOf, parseClientIdentifier } from '../../protocol/client/identifier.ts'
import { mintAuthorizationId } from '../../protocol/ids.ts'
import type { Parameters } from '../../base/message.ts'
import { MAX_AGE_LIMIT } from '../../protocol/client/openid-metadata.ts'
import type { PAGE_REFUSALS } from '../../protocol/authorization/page-refusals.ts'
import { checkRedirectUri, redirectUriMatches, type RedirectUri } from '../../protocol/uri/redirect-uri.ts'
import { sameResource } from '../../protocol/token/resource.ts'
import { isOpenid, NO_SCOPE, unite } from '../../protocol/token/scope.ts'
import { errorPage } from '../error-page.ts'
import { findClient } from '../../clients/find-client.ts'
import { browserOf } from './interaction.ts'
import { evaluateClient } from '../../clients/evaluate-client.ts'
import { readIdTokenHint } from '../openid/id-token.ts'
import { describeUnknown, findResources, loadScopeCatalog, type ScopeCatalog } from '../token/scope-catalog.ts'
import { nextStep, takeStep } from './next-step.ts'
import { refuse, type Fault, type Trusted } from './authorization-error.ts'
import { decideScope } from '../token/scope-decision.ts'
import { findSignedIn } from './session.ts'

/**
 * Authorization endpoint by GET. RFC 6749 §3.1 and §4.1.1, RFC 7636 §4.3, RFC 8707 §2, RFC 9207.
 *
 *  §4.1.2.1  Until the client and the redirect URI are checked, every error is a page and never a redirect.
 *  §4.1.1    The rest of the request is checked next. The client receives the error, if there is one; see `refuse`.
 *  §3.1      A valid request is stored for this browser only, and `nextStep` decides which page follows.
 */
export async function authorize(context: Context, request: Request): Promise<Reply> {
  const now = context.clockCheck.now()
  if (!context.budgets.take('authorization', request.network, now).isWithin) return errorPage('too_many_requests')
  const trusted = await establishTrust(context, request)
  if ('kind' in trusted) return trusted

  const signedIn = await findSignedIn(context, request.cookies)
  const userId = signedIn?.user.id
  const { pkce } = trusted.rights
  const parsed = readAuthorizationRequest(request.params, { pkce, redirectUri: trusted.redirectUri })
  if (parsed.kind === 'refused') return refuse(context, trusted, userId, parsed)
  const onlyUserId = await findOnlyUser(context, trusted.client, parsed.request.openid)
  if (typeof onlyUserId === 'object') return refuse(context, trusted, userId, onlyUserId)
  const catalog = await loadScopeCatalog(context)
  const requested = findRequestedAccess(context, catalog, trusted.client, parsed.request)
  if ('error' in requested) return refuse(context, trusted, userId, requested)
  const { codeChallenge, prompts } = parsed.request
  if (codeChallenge === undefined && !replacesPkce(parsed.request, pkce, requested.openid))
    return refuse(context, trusted, userId, NO_PKCE)

  const { client, rights } = trusted
  const { authorization, cookies } = newAuthorization(context, request, trusted, parsed.request, {
    ...requested,
    onlyUserId,
  })
  // No session is newer than the request, so prompt=login ignores the one that exists.
  const session = prompts.has('login') ? undefined : signedIn
  const step = await nextStep(context, { authorization, client, rights }, session, { kind: 'not-asked' })
  if (step.kind === 'deny' && step.fault !== undefined) return refuse(context, trusted, userId, step.fault)
  if (prompts.has('none') && step.kind === 'sign-in') return refuse(context, trusted, userId, NO_SESSION)
  if (prompts.has('none') && step.kind === 'consent') return refuse(context, trusted, userId, NO_CONSENT)
  await store(context, authorization, client)
  return takeStep(context, { authorization, client, rights, uiLocales: request.uiLocales }, step, cookies)
}

const NO_PKCE: Fault = { error: 'invalid_request', reason: 'code_challenge_not_optional' }
const NO_SESSION: Fault = { error: 'login_required', reason: 'no_session' }
const NO_CONSENT: Fault = { error: 'consent_required', reason: 'no_consent' }

async function establishTrust(context: Context, { params, network }: Request): Promise<Trusted | Reply> {
  if (params.repeated.includes('client_id') || params.repeated.includes('redirect_uri'))
    return errorPage('parameter_repeated')
  const named = params.get('client_id')
  if (named === undefined) return errorPage('client_id_missing')
  const identifier = parseClientIdentifier(named)
  if (identifier === undefined) return errorPage('client_id_malformed')
  const known = { client: identifier.id }
  const lookup = await findClient(context, named, network)
  if (lookup.kind === 'unknown' && identifier.documentUrl !== undefined) return errorPage('client_url_unusable', known)
  if (lookup.kind !== 'found') return errorPage(REASONS[lookup.kind], known)
  const { client } = lookup
  if (client.disabledAt !== undefined) return errorPage('client_disabled', known)
  const chosen = chooseRedirectUri(context, client, params)
  const redirectUri = chosen.kind === 'chosen' ? chosen.redirectUri : undefined
  const allowed = await evaluateClient(context, client, { phase: 'use', redirectUri })
  if ('kind' in allowed) return errorPage('client_not_allowed', known)
  if (chosen.kind === 'refused') {
    return errorPage(chosen.reason, { ...known, redirectUri: describeSentUri(params.get('redirect_uri') ?? '') })
  }
  return {
    ...allowed,
    redirectUri: chosen.redirectUri,
    responseMode: readResponseMode(params, chosen.redirectUri),
    state: readState(params),
  }
}

/** Why no client is found. */
const REASONS = {
  unknown: 'client_unknown',
  unavailable: 'client_document_unavailable',
  unacceptable: 'client_document_unacceptable',
  refused: 'client_not_allowed',
} as const

type RedirectUriChoice =
  | { readonly kind: 'chosen'; readonly redirectUri: RedirectUri }
  | {
      readonly kind: 'refused'
      readonly reason: 'redirect_uri_missing' | keyof (typeof PAGE_REFUSALS)['redirect-unknown']
    }

/** RFC 6749 §3.1.2.3: the redirect URI must be registered. It may be omitted if the client registered only one. */
function chooseRedirectUri(context: Context, client: ClientRecord, params: Parameters): RedirectUriChoice {
  const registered = client.metadata.redirectUris
  const presented = params.get('redirect_uri') ?? soleRedirectUri(client)
  if (presented === undefined) return { kind: 'refused', reason: 'redirect_uri_missing' }
  if (!registered.some((one) => redirectUriMatches(one, presented))) {
    return {
      kind: 'refused',
      reason: URL.canParse(presented) ? 'redirect_uri_not_registered' : 'redirect_uri_malformed',
    }
  }
  // Checked again: a registration may contain schemes that are not allowed, and a loopback port may be the server's own.
  return checkRedirectUri(presented, context.settings.redirects).kind === 'usable'
    ? { kind: 'chosen', redirectUri: presented as RedirectUri }
    : { kind: 'refused', reason: 'redirect_uri_not_allowed' }
}

/**
 * Returns the redirect URI that a request may omit. A public client with a loopback redirect URI must send it: programs with
 * the same metadata share the client, and each of them listens on its own port (decision 0021).
 */
function soleRedirectUri({ metadata: { authMethod, redirectUris } }: ClientRecord): string | undefined {
  const [only, another] = redirectUris
  if (another !== undefined || (authMethod === 'none' && only?.startsWith('http:') === true)) return undefined
  return only
}

type RequestedAccess = Pick<AuthorizationRecord, 'scope' | 'ungrantedScope' | 'resources' | 'organizationId' | 'openid'>

/**
 * Returns the one user who may answer the request, if it names one by `id_token_hint` or by `sub` in `claims`. OpenID Connect Core
 * 1.0 §3.1.2.1 and §5.5. An ID token is a hint also when it has expired.
 */
async function findOnlyUser(
  context: Pick<Context, 'issuer' | 'tokenReader'>,
  client: ClientRecord,
  { claims: { subject }, idTokenHint }: AuthorizationRequest['openid'],
): Promise<string | undefined | Fault> {
  if (idTokenHint === undefined) return subject
  const hint = await readIdTokenHint(context, idTokenHint)
  const isOwn = hint?.audience === identifierOf(client) && (subject === undefined || subject === hint.userId)
  return isOwn ? hint.userId : { error: 'invalid_request', reason: 'hint_wrong' }
}

/** Characters. A longer value is not stored: any browser could make the server store it. */
const UNGRANTED_LIMIT = 1024

/** Returns the access that the code will give: at most what the client registered and the APIs declare (decision 0006). */
function findRequestedAccess(
  { issuer }: Pick<Context, 'issuer'>,
  catalog: ScopeCatalog,
  client: ClientRecord,
  request: AuthorizationRequest,
): RequestedAccess | Fault {
  if (!client.metadata.grantTypes.includes('authorization_code')) {
    return { error: 'unauthorized_client', reason: 'grant_type_not_registered' }
  }
  const { idToken, scope: claimed } = request.openid.claims
  const isLogin = isOpenid(request.scope ?? NO_SCOPE)
  // A client that may know who the user is can always get a token for the issuer, so naming the issuer adds nothing.
  const named = isLogin ? request.resources.filter((one) => !sameResource(one, issuer)) : request.resources
  const requested = findResources(catalog, named)
  if (requested === undefined) {
    return { error: 'invalid_target', reason: 'resource_unknown', description: describeUnknown(catalog, named) }
  }
  const wanted = isLogin ? unite(request.scope ?? NO_SCOPE, claimed) : request.scope
  const requester = { kind: 'user', client, installed: undefined } as const
  const decision = decideScope(catalog, requester, { scope: wanted, resources: requested })
  if (decision.kind === 'refused') {
    const { refusal } = decision
    return { error: 'invalid_scope', reason: refusal.reason, refusal }
  }
  const { scope, resources, ungranted } = decision
  const ungrantedScope = ungranted.length <= UNGRANTED_LIMIT ? ungranted : NO_SCOPE
  const openid = isOpenid(scope)
    ? { nonce: request.openid.nonce, idTokenClaims: idToken, session: undefined }
    : undefined
  return { scope, ungrantedScope, resources, organizationId: request.organizationId, openid }
}

function newAuthorization(
  context: Context,
  request: Request,
  { client, redirectUri, responseMode, state }: Trusted,
  { codeChallenge, prompts, loginHint, openid }: AuthorizationRequest,
  requested: RequestedAccess & Pick<AuthorizationRecord, 'onlyUserId'>,
): { readonly authorization: AuthorizationRecord; readonly cookies: CookieChanges } {
  const now = context.clockCheck.now()
  const isTimeRequired = client.metadata.requireAuthTime === true || openid.claims.isAuthTimeEssential
  // A sign-in of any age satisfies it, whose time is known.
  const anyAge = isTimeRequired && requested.openid !== undefined ? MAX_AGE_LIMIT : undefined
  const maxAge = openid.maxAge ?? client.metadata.defaultMaxAge ?? anyAge
  const { hash, cookies } = browserOf(context, request)
  const authorization: AuthorizationRecord = {
    ...requested,
    id: mintAuthorizationId(now, context.random),
    clientId: client.id,
    browserHash: hash,
    redirectUri,
    responseMode,
    state,
    codeChallenge,
    mustSignIn: prompts.has('login'),
    mustConsent: prompts.has('consent'),
    authenticatedSince: maxAge === undefined ? undefined : after(now, -maxAge * 1000),
    loginHint,
    createdAt: now,
    expiresAt: after(now, context.settings.lifetimes.authorization * 1000),
    status: { kind: 'pending' },
  }
  return { authorization, cookies }
}

/** Stores the authorization. An unused client is kept at least until the code of this authorization expires. */
async function store(context: Context, authorization: AuthorizationRecord, client: ClientRecord): Promise<void> {
  const until = after(authorization.expiresAt, context.settings.lifetimes.code * 1000)
  await Promise.all([
    context.store.startAuthorization(authorization),
    client.usedAt === undefined ? context.store.extendRetention({ id: client.id, until }) : undefined,
  ])
}
