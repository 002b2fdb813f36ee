import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { readAuthorizationRequest, readState, type AuthorizationRequest } from '../../protocol/authorization-request.ts'
import { after } from '../../protocol/brand.ts'
import { mintAuthorizationId, mintOrderedId, parseClientId } from '../../protocol/ids.ts'
import type { Parameters } from '../../protocol/message.ts'
import { checkRedirectUri, redirectUriMatches, type RedirectUri } from '../../protocol/redirect-uri.ts'
import { NO_SCOPE } from '../../protocol/scope.ts'
import { findRemembered } from './remembered-consent.ts'
import { approve } from './approval.ts'
import { errorPage } from '../error-page.ts'
import { openBrowser } from './interaction.ts'
import { loadScopeCatalog, findResources, type ScopeCatalog } from '../token/scope-catalog.ts'
import { findChoices } from './organization-choice.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { NOT_A_MEMBER, refuse, type Fault, type Trusted } from './authorization-error.ts'
import { decideScope } from '../token/scope-decision.ts'
import { findSignedIn } from './session.ts'

/**
 * Authorization endpoint by GET. RFC 6749 §3.1 and §4.1.1, RFC 7636 §4.3, RFC 8707 §2, RFC 9207.
 *
 *  §4.1.2.1  Until client and redirect URI are known good there is a page and never a redirect.
 *  §4.1.1    Then the request is checked whole; a fault goes back to the client. While nobody vouches for the client, by a
 *            page with a link: a redirect on demand would make everybody who registers an open redirector.
 *  §3.1      A good request is kept, bound to this browser, and the person is asked to sign in and to consent.
 */
export async function authorize(context: Context, request: Request): Promise<Reply> {
  const now = context.clockCheck.now()
  if (!context.budgets.take('authorization', request.network, now).isWithin) return errorPage('too-many-requests')
  const trusted = await establishTrust(context, request)
  if ('kind' in trusted) return trusted

  const signedIn = await findSignedIn(context, request.cookies)
  const userId = signedIn?.user.id
  const reading = readAuthorizationRequest(request.params)
  if (reading.kind === 'refused') return refuse(context, trusted, userId, reading)
  const requested = findRequestedAccess(await loadScopeCatalog(context), trusted.client, reading.request)
  if ('error' in requested) return refuse(context, trusted, userId, requested)

  const { prompts } = reading.request
  const choices = userId === undefined ? undefined : await findChoices(context, requested, userId)
  // Somebody else may sign in.
  if (choices?.kind === 'not-a-member' && !prompts.has('login')) return refuse(context, trusted, userId, NOT_A_MEMBER)
  const remembered =
    userId === undefined || choices === undefined
      ? undefined
      : await findRemembered(context, trusted.client, { ...trusted, ...requested }, userId, choices)
  if (prompts.has('none') && userId === undefined) return refuse(context, trusted, userId, NO_SESSION)
  if (prompts.has('none') && remembered === undefined) return refuse(context, trusted, userId, NO_CONSENT)

  const { authorization, cookies } = await start(context, request, trusted, reading.request, requested)
  if (userId === undefined || authorization.mustSignIn)
    return toPage(context, PATHS.signIn, request, authorization, cookies)
  if (remembered === undefined || authorization.mustConsent)
    return toPage(context, PATHS.consent, request, authorization, cookies)
  return approve(context, authorization, trusted.client, remembered, cookies)
}

const NO_SESSION: Fault = { error: 'login_required', reason: 'no_session' }
const NO_CONSENT: Fault = { error: 'consent_required', reason: 'no_consent' }

async function establishTrust(context: Context, { params }: Request): Promise<Trusted | Reply> {
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
  const presented = params.get('redirect_uri') ?? soleRedirectUri(client)
  if (presented === undefined || !registered.some((one) => redirectUriMatches(one, presented))) return undefined
  // Judged again: a loopback port may lead to ourselves, and a scheme may have been registered without being allowed.
  const policy = { apps: context.settings.redirectApps, ownOrigin: new URL(context.issuer).origin }
  return checkRedirectUri(presented, policy).kind === 'usable' ? (presented as RedirectUri) : undefined
}

/**
 * The one that may be left out. Of a public client with a loopback redirect it may not: programs that register the same share
 * the client, and each of them listens on a port of its own (decisions.md D7).
 */
function soleRedirectUri({ metadata: { authMethod, redirectUris } }: ClientRecord): string | undefined {
  const [only, another] = redirectUris
  if (another !== undefined || (authMethod === 'none' && only?.startsWith('http:') === true)) return undefined
  return only
}

type RequestedAccess = Pick<AuthorizationRecord, 'scope' | 'ungrantedScope' | 'resources' | 'organizationId'>

/** A longer one is not kept: any browser can make the server store it. */
const UNGRANTED_LIMIT = 1024

/** What the code will be for: within what the client registered and what the APIs offer (decisions.md D6). */
function findRequestedAccess(
  catalog: ScopeCatalog,
  client: ClientRecord,
  request: AuthorizationRequest,
): RequestedAccess | Fault {
  if (!client.metadata.grantTypes.includes('authorization_code')) {
    return { error: 'unauthorized_client', reason: 'grant_type_not_registered' }
  }
  const asked = findResources(catalog, request.resources)
  if (asked === undefined) return { error: 'invalid_target', reason: 'resource_unknown' }
  const requester = { kind: 'user', client, installed: undefined } as const
  const decision = decideScope(catalog, requester, { scope: request.scope, resources: asked })
  if (decision.kind === 'refused') {
    const { refusal } = decision
    return { error: 'invalid_scope', reason: refusal.reason, refusal }
  }
  const { scope, resources, ungranted } = decision
  const ungrantedScope = ungranted.length <= UNGRANTED_LIMIT ? ungranted : NO_SCOPE
  return { scope, ungrantedScope, resources, organizationId: request.organizationId }
}

async function start(
  context: Context,
  request: Request,
  { client, redirectUri, state }: Trusted,
  { codeChallenge, prompts, loginHint }: AuthorizationRequest,
  requested: RequestedAccess,
): Promise<{ authorization: AuthorizationRecord; cookies: CookieChanges }> {
  const now = context.clockCheck.now()
  const known = openBrowser(context, request)
  const fresh = context.secrets.mint('browser', mintOrderedId(now, context.random), context.random)
  const expiresAt = after(now, context.settings.lifetimes.authorization * 1000)
  const authorization: AuthorizationRecord = {
    ...requested,
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
      ? context.store.extendRetention({
          id: client.id,
          until: after(expiresAt, context.settings.lifetimes.code * 1000),
        })
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
