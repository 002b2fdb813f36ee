import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { AllowedClient } from '../../clients/evaluate-client.ts'
import { settleIdTokenAlgorithm } from '../../clients/new-client.ts'
import type { Parameters } from '../../base/message.ts'
import type { ReasonOf } from '../../protocol/authorization/page-refusals.ts'
import {
  readAuthorizationRequest,
  challengeFault,
  replacesPkce,
  type AuthorizationRequest,
} from '../../protocol/authorization/request.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import { groupClaimOf } from '../../protocol/client/policy.ts'
import { isOpenid, NO_SCOPE, unite, type Scope } from '../../protocol/token/scope.ts'
import { checkRedirectUri, redirectUriMatches, type RedirectUri } from '../../protocol/uri/redirect-uri.ts'
import { readIdTokenHint } from '../openid/id-token.ts'
import {
  describeUnknown,
  findResources,
  loadScopeCatalog,
  withoutIssuer,
  type ScopeCatalog,
} from '../../requests/scope-catalog.ts'
import { decideScope } from '../../requests/scope-decision.ts'
import type { Fault } from './authorization-error.ts'

/** What an authorization request asks for, without what depends on the user. */
export interface CheckedRequest {
  readonly parsed: AuthorizationRequest
  readonly access: RequestedAccess
}

/** The access that a code will give, and the one user who may allow it. */
export type RequestedAccess = Pick<
  AuthorizationRecord,
  'scope' | 'ungrantedScope' | 'resources' | 'organizationId' | 'onlyUserId' | 'openid'
>

/**
 * Checks the parameters of a client that is known, with a redirect URI of `chooseRedirectUri`. RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707
 * §2. The authorization endpoint and the one for pushed requests (RFC 9126 §2.1) accept the same.
 */
export async function checkRequest(
  context: Context,
  { client, rights: { pkce }, redirectUri }: AllowedClient & { readonly redirectUri: RedirectUri },
  params: Parameters,
): Promise<CheckedRequest | Fault> {
  const reading = readAuthorizationRequest(params, { pkce, redirectUri })
  if (reading.kind === 'refused') return reading
  const { request } = reading
  const onlyUserId = await findOnlyUser(context, client, request.openid)
  if (typeof onlyUserId === 'object') return onlyUserId
  if (!client.metadata.grant_types.includes('authorization_code')) return NO_CODE
  const requested = findRequestedAccess(await loadScopeCatalog(context), client, request)
  if ('error' in requested) return requested
  if (request.codeChallenge === undefined && !replacesPkce(request, pkce, requested.openid))
    return { error: 'invalid_request', reason: challengeFault(pkce) }
  // The client may be of an import, which no request stored.
  if (requested.openid !== undefined) await settleIdTokenAlgorithm(context, client, client.metadata)
  return { parsed: request, access: { ...requested, onlyUserId } }
}

const NO_CODE: Fault = { error: 'unauthorized_client', reason: 'grant_type_not_registered' }

type RedirectUriChoice =
  | { readonly kind: 'chosen'; readonly redirectUri: RedirectUri }
  | {
      readonly kind: 'refused'
      readonly reason: ReasonOf<'redirect-missing' | 'redirect-unknown' | 'redirect-not-allowed'>
    }

/** RFC 6749 §3.1.2.3: the redirect URI must be registered. It may be omitted if the client registered only one. */
export function chooseRedirectUri(context: Context, client: ClientRecord, params: Parameters): RedirectUriChoice {
  const registered = client.metadata.redirect_uris
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
function soleRedirectUri({ metadata }: ClientRecord): string | undefined {
  const [only, another] = metadata.redirect_uris
  if (another !== undefined || (metadata.token_endpoint_auth_method === 'none' && only?.startsWith('http:') === true))
    return undefined
  return only
}

/**
 * Returns the one user who may answer the request, if it names one by `id_token_hint` or by `sub` in `claims`. OpenID Connect Core
 * 1.0 §3.1.2.1 and §5.5. An ID token is a hint also when it has expired.
 */
async function findOnlyUser(
  context: Context,
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

/** The members of a request that its access follows from. */
type AccessRequest = Pick<AuthorizationRequest, 'scope' | 'resources' | 'organizationId'> & {
  readonly openid: Pick<AuthorizationRequest['openid'], 'claims' | 'nonce'>
}

/** Returns the access that the code will give: at most what the client registered and the APIs declare (decision 0006). */
export function findRequestedAccess(
  catalog: ScopeCatalog,
  client: ClientRecord,
  request: AccessRequest,
): Omit<RequestedAccess, 'onlyUserId'> | Fault {
  const { idToken, scope: ofClaims, groups } = request.openid.claims
  // A request for the claim that the client has counts as one for the scope.
  const isOfGroups = groups.some((name) => name === groupClaimOf(client)?.name)
  const claimed = isOfGroups ? unite(ofClaims, 'groups' as Scope) : ofClaims
  const asked = request.scope ?? NO_SCOPE
  const named = withoutIssuer(catalog, asked, request.resources)
  const requested = findResources(catalog, named)
  if (requested === undefined) {
    return { error: 'invalid_target', reason: 'resource_unknown', description: describeUnknown(catalog, named) }
  }
  const wanted = isOpenid(asked) ? unite(asked, claimed) : request.scope
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
