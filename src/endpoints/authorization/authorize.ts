import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { readResponseMode, readState, type AuthorizationRequest } from '../../protocol/authorization/request.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { describeSentUri } from '../../protocol/uri/canonical-uri.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import { mintAuthorizationId } from '../../protocol/ids.ts'
import type { Acr, AuthenticationRequest } from '../../protocol/sign-in/acr.ts'
import { MAX_AGE_LIMIT } from '../../protocol/openid/request.ts'
import { tooManyRequests, unavailable } from '../../protocol/errors.ts'
import { errorPage } from '../error-page.ts'
import { findClient } from '../../clients/find-client.ts'
import { browserOf } from './interaction.ts'
import { evaluateClient } from '../../clients/evaluate-client.ts'
import { checkRequest, chooseRedirectUri, type RequestedAccess } from './checked-request.ts'
import { nextStep, takeStep, type Step } from './next-step.ts'
import { mustPush } from '../../protocol/client/policy.ts'
import { openPushedRequest, type OpenedRequest } from './pushed-request.ts'
import { NO_SESSION, NOT_PUSHED, refuse, type Fault, type Trusted } from './authorization-error.ts'
import { findSignedIn } from './session.ts'

/**
 * Authorization endpoint by GET. RFC 6749 §3.1 and §4.1.1, RFC 7636 §4.3, RFC 8707 §2, RFC 9207.
 *
 *  RFC 9126 §4  The parameters that a client pushed replace those of the address.
 *  §4.1.2.1  Until the client and the redirect URI are checked, every error is a page and never a redirect.
 *  §4.1.1    The rest of the request is checked next. The client receives the error, if there is one; see `refuse`.
 *  §3.1      A valid request is stored for this browser only, and `nextStep` decides which page follows.
 */
export async function authorize(context: Context, sent: Request): Promise<Reply> {
  const now = context.clockCheck.now()
  takeAuthorization(context, sent.network, now)
  const opened = await openPushedRequest(context, sent)
  if ('kind' in opened) return opened
  const reply = await answer(context, opened)
  if (reply.kind !== 'page') return reply
  return { ...reply, uiLocales: opened.request.uiLocales, ...reopening(reply, opened.request) }
}

/**
 * The id of an unknown client, if it has the form of one, suffices to show its page again. The other refusals depend on the redirect URI, which may be of an attacker,
 * and a page of theirs repeats nothing (threats.md UI-07).
 */
function reopening({ page }: PageReply, { params }: Request): Pick<PageReply, 'reopenedWith'> {
  if (page.kind !== 'error' || page.problem !== 'client-unknown') return {}
  const id = params.get('client_id')
  if (id === undefined) return { reopenedWith: {} }
  return parseClientIdentifier(id) === undefined ? {} : { reopenedWith: { client_id: id } }
}

type PageReply = Extract<Reply, { readonly kind: 'page' }>

/**
 * Takes one of the requests of a network that store something before anyone has signed in.
 *
 * @throws OAuthError temporarily_unavailable, with 429
 */
export function takeAuthorization({ budgets }: Context, network: string, now: EpochMs): void {
  const outcome = budgets.take('authorization', network, now)
  if (!outcome.isWithin) throw tooManyRequests('authorization', outcome)
}

async function answer(context: Context, opened: OpenedRequest): Promise<Reply> {
  const { request, pushedRequestId } = opened
  const trusted = await establishTrust(context, request)
  if ('kind' in trusted) return trusted

  const signedIn = await findSignedIn(context, request.cookies)
  const userId = signedIn?.user.id
  if (mustPush(trusted.client) && pushedRequestId === undefined) return refuse(context, trusted, userId, NOT_PUSHED)
  const checked = await checkRequest(context, trusted, request.params)
  if ('error' in checked) return refuse(context, trusted, userId, checked)

  const { client, rights } = trusted
  const { access, parsed } = checked
  const { prompts } = parsed
  const isSilent = prompts.has('none')
  const { authorization, cookies } = newAuthorization(context, opened, trusted, parsed, access)
  // No session is newer than the request, so prompt=login ignores the one that exists.
  const session = prompts.has('login') ? undefined : signedIn
  const step = await nextStep(context, { authorization, client, rights }, session, {
    kind: 'not-asked',
    isSilent,
  })
  const fault = findFault(step, isSilent)
  if (fault !== undefined) return refuse(context, { ...trusted, isSilent }, userId, fault)
  await store(context, authorization, client)
  return takeStep(context, { authorization, client, rights, uiLocales: request.uiLocales }, step, cookies)
}

/** Why the request ends here. A silent one ends where a page would follow. */
function findFault(step: Step, isSilent: boolean): Fault | undefined {
  switch (step.kind) {
    case 'approve':
      return undefined
    case 'deny':
      return step.fault
    case 'sign-in':
      return isSilent ? NO_SESSION : undefined
    case 'step-up':
    case 'set-up':
      return isSilent ? TOO_WEAK : undefined
    case 'consent':
      return isSilent ? NO_CONSENT : undefined
  }
}

const TOO_WEAK: Fault = { error: 'login_required', reason: 'authentication_too_weak' }
const NO_CONSENT: Fault = { error: 'consent_required', reason: 'no_consent' }

async function establishTrust(context: Context, { params, network, isInFrame }: Request): Promise<Trusted | Reply> {
  if (params.repeated.includes('client_id') || params.repeated.includes('redirect_uri'))
    return errorPage('parameter_repeated')
  const named = params.get('client_id')
  if (named === undefined) return errorPage('client_id_missing')
  const identifier = parseClientIdentifier(named)
  if (identifier === undefined) return errorPage('client_id_malformed')
  const known = { client: identifier.id }
  const lookup = await findClient(context, named, network)
  if (lookup.kind === 'limited') throw unavailable('own_limit', lookup.retryAfterSeconds)
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
    isInFrame,
    isSilent: false,
  }
}

/** Why no client is found. */
const REASONS = {
  unknown: 'client_unknown',
  unavailable: 'client_document_unavailable',
  unacceptable: 'client_document_unacceptable',
  refused: 'client_not_allowed',
} as const

function newAuthorization(
  context: Context,
  { request, pushedRequestId }: OpenedRequest,
  { client, redirectUri, responseMode, state }: Trusted,
  { codeChallenge, keyThumbprint, prompts, loginHint, openid }: AuthorizationRequest,
  requested: RequestedAccess,
): { readonly authorization: AuthorizationRecord; readonly cookies: CookieChanges } {
  const now = context.clockCheck.now()
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
    keyThumbprint,
    mustSignIn: prompts.has('login'),
    mustConsent: prompts.has('consent'),
    ...findDemand(client, requested.openid, openid, now),
    stated: undefined,
    loginHint,
    pushedRequestId,
    device: undefined,
    createdAt: now,
    expiresAt: after(now, context.settings.lifetimes.authorization * 1000),
    status: { kind: 'pending' },
  }
  return { authorization, cookies }
}

/**
 * What the request and the metadata of the client ask of the authentication of the user. OpenID Connect Core 1.0 §2 and §3.1.2.1, Dynamic
 * Client Registration 1.0 §2. `asked`: by the request itself, which a device does not.
 */
export function findDemand(
  { metadata }: Pick<ClientRecord, 'metadata'>,
  openid: AuthorizationRecord['openid'],
  asked: AuthorizationRequest['openid'] | undefined,
  now: EpochMs,
): Pick<AuthorizationRecord, 'authenticatedSince' | 'authentication'> {
  const isTimeRequired = metadata.require_auth_time === true || asked?.claims.isAuthTimeEssential === true
  // A sign-in of any age satisfies it, whose time is known.
  const anyAge = isTimeRequired && openid !== undefined ? MAX_AGE_LIMIT : undefined
  const maxAge = asked?.maxAge ?? metadata.default_max_age ?? anyAge
  return {
    authenticatedSince: maxAge === undefined ? undefined : after(now, -maxAge * 1000),
    authentication: withDefault(asked?.authentication, metadata.default_acr_values),
  }
}

/** `default_acr_values`: what a request asks for that names no level. */
function withDefault(
  asked: AuthenticationRequest | undefined,
  acrValues: readonly Acr[] | undefined,
): AuthenticationRequest | undefined {
  const isNamed = asked !== undefined && asked.acrValues.length > 0
  return isNamed || acrValues === undefined ? asked : { acrValues, isEssential: false }
}

/** Stores the authorization. An unused client is kept at least until the code of this authorization expires. */
async function store(context: Context, authorization: AuthorizationRecord, client: ClientRecord): Promise<void> {
  const until = after(authorization.expiresAt, context.settings.lifetimes.code * 1000)
  await Promise.all([
    context.store.startAuthorization(authorization),
    client.usedAt === undefined ? context.store.extendRetention({ id: client.id, until }) : undefined,
  ])
}
