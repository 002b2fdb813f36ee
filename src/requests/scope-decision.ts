import { MAXIMA } from '../base/maxima.ts'
import type { ApiRecord, ApiScope } from '../ports/records/api.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { apisWithScope } from '../clients/declared-scopes.ts'
import type { Resource } from '../protocol/token/resource.ts'
import {
  isIdentityScope,
  lengthOf,
  narrow,
  NO_SCOPE,
  scopeOf,
  scopeTokens,
  type Scope,
} from '../protocol/token/scope.ts'
import {
  audienceOf,
  declarationsOf,
  givenBy,
  isByDefault,
  reads,
  type ScopeCatalog,
  type ScopeRecipient,
} from './scope-catalog.ts'
import {
  ambiguousAudience,
  consentNeeded,
  apiOfIssuer,
  nothingRemains,
  tooMuchForToken,
  type ScopeReason,
  type ScopeRefusal,
} from './scope-refusal.ts'

/** The client, and everything other than the APIs that limits its scope. */
export interface Requester extends ScopeRecipient {
  readonly client: ScopeRecipient['client'] & Pick<ClientRecord, 'metadata'>
  /** The scope of the installation that the client uses; undefined if it uses none. */
  readonly installed: Scope | undefined
}

/** `scope` and `resource` of a request. The resources are as declared. */
export interface ScopeRequest {
  /** undefined if the request has no scope. */
  readonly scope: Scope | undefined
  readonly resources: readonly Resource[]
}

export type ScopeDecision =
  | {
      readonly kind: 'granted'
      readonly scope: Scope
      readonly resources: readonly Resource[]
      /** The scopes that were requested and not granted. */
      readonly ungranted: Scope
    }
  | { readonly kind: 'refused'; readonly refusal: ScopeRefusal }

/**
 * Decides the scope and the audience of a token. RFC 6749 §3.3, RFC 9068 §3, decisions 0005 and 0006.
 *
 *  1. The audience is the value of `resource`. Without it, the audience is the API that all requested scopes belong to. If no
 *     scope is requested either, it is the issuer.
 *  2. The scope is the requested one. Without it, it is the registered one, and otherwise the default of the APIs.
 *  3. Scopes that the client, the kind of grant or the installation does not allow are dropped.
 *  4. At least one scope of each API of the audience must remain, if the API has scopes. Otherwise the request is refused.
 *  5. What remains must fit into a token.
 */
export function decideScope(catalog: ScopeCatalog, requester: Requester, request: ScopeRequest): ScopeDecision {
  const requested = request.scope === NO_SCOPE ? undefined : request.scope
  const gone = declaringApis({ apis: request.resources.length === 0 ? catalog.ofIssuer : [] }, requested)
  if (gone.length > 0) return refused(apiOfIssuer(gone.map(identifierOf)))
  const resources = chooseAudience(catalog, requested, request.resources)
  if (resources === undefined) return refused(ambiguousAudience(declaringApis(catalog, requested).map(identifierOf)))

  const { scope, withheld } = narrowScope(catalog, requester, { scope: requested, resources })
  const bare = withoutShare(catalog, scope, resources)
  if (bare.length > 0 || (requested !== undefined && scope === NO_SCOPE)) return refused(nothingRemains(withheld, bare))
  const unlimited = requester.kind === 'machine' ? withoutScopes(catalog, resources) : []
  if (unlimited.length > 0) return refused(consentNeeded(unlimited))
  if (!fitsToken(scope, resources)) return refused(tooMuchForToken())
  const ungranted = requested === undefined || withheld.size === 0 ? NO_SCOPE : scopeOf(withheld.keys())
  return { kind: 'granted', scope, resources, ungranted }
}

/** The scope of a request for an audience without what the client does not get, and why it does not get each of the others. */
export function narrowScope(
  catalog: ScopeCatalog,
  requester: Requester,
  { scope: requested, resources }: ScopeRequest,
): { readonly scope: Scope; readonly withheld: ReadonlyMap<string, ScopeReason> } {
  const apis = audienceOf(catalog, resources)
  const start = requested ?? requester.client.metadata.scope
  const from = start === undefined ? 'default' : requested === undefined ? 'registered' : 'requested'
  const limits: Limits = {
    ...requester,
    from,
    audience: resources.length === 0 ? 'issuer' : 'apis',
    registered: tokensOf(requester.client.metadata.scope),
    installable: tokensOf(requester.installed),
  }
  const withheld = new Map<string, ScopeReason>()
  // If a machine registered no scope, all scopes of these APIs are tried, and each is refused with a reason.
  const all = (): Scope => everyScope(resources.length === 0 ? [] : apis)
  const scope = narrow(start === undefined || start === NO_SCOPE ? all() : start, (token) => {
    const isOpen = catalog.isOpen && !isIdentityScope(token)
    const reason = isOpen ? whyLimited(limits, token, []) : whyNot(limits, declarationsOf(apis, token), token)
    if (reason !== undefined) withheld.set(token, reason)
    return reason === undefined
  })
  return { scope, withheld }
}

/**
 * Whether a token can have this scope and these resources, and a later request repeat them. Checked before a user is asked, and whatever the
 * format is, which may change. Identity scopes are in no token for an API.
 */
function fitsToken(scope: Scope, resources: readonly Resource[]): boolean {
  const tokens = scopeTokens(scope)
  let length = lengthOf(resources)
  for (const token of tokens) if (!isIdentityScope(token)) length += token.length + 1
  return tokens.length <= MAXIMA.scopesOfRequest.most && length <= MAXIMA.tokenTexts.most
}

/** The APIs of an audience that have no scopes. */
function withoutScopes(catalog: ScopeCatalog, resources: readonly Resource[]): readonly Resource[] {
  if (resources.length === 0) return resources
  return audienceOf(catalog, resources)
    .filter(({ scopes }) => scopes.length === 0)
    .map(identifierOf)
}

/**
 * Returns the APIs that have scopes, but none of the given ones. A token must not name such an API in its audience, because a
 * resource server that checks only the audience would accept it.
 */
export function withoutShare(catalog: ScopeCatalog, scope: Scope, resources: readonly Resource[]): readonly Resource[] {
  if (resources.length === 0) return resources
  const tokens = scopeTokens(scope)
  return audienceOf(catalog, resources)
    .filter(({ scopes }) => scopes.length > 0 && !scopes.some(({ name }) => tokens.includes(name)))
    .map(identifierOf)
}

/** Returns undefined if the scopes belong to several APIs. */
function chooseAudience(
  catalog: ScopeCatalog,
  requested: Scope | undefined,
  resources: readonly Resource[],
): readonly Resource[] | undefined {
  if (resources.length > 0 || requested === undefined || catalog.isOpen) return resources
  const declaring = declaringApis(catalog, requested)
  return declaring.length > 1 ? undefined : declaring.map(identifierOf)
}

/** Returns the APIs that declare any of these scopes. Identity scopes such as `openid` belong to no API. */
export function declaringApis(
  { apis }: Pick<ScopeCatalog, 'apis'>,
  requested: Scope | undefined,
): readonly ApiRecord[] {
  const tokens = scopeTokens(requested ?? NO_SCOPE).filter((token) => !isIdentityScope(token))
  const declaring = new Set(tokens.flatMap((token) => apisWithScope(apis, token)))
  return declaring.size < 2 ? [...declaring] : apis.filter((api) => declaring.has(api))
}

interface Limits extends Requester {
  /** The source of the scope that is narrowed. */
  readonly from: 'requested' | 'registered' | 'default'
  readonly audience: 'apis' | 'issuer'
  readonly registered: readonly string[] | undefined
  readonly installable: readonly string[] | undefined
}

/** Returns why the client does not get a scope; undefined if it gets the scope. */
function whyNot(limits: Limits, declared: readonly ApiScope[], token: string): ScopeReason | undefined {
  if (declared.length === 0 || !reads(limits.client, token)) return 'not_declared'
  const given = givenBy(declared, limits, limits.audience)
  if (given.length === 0) return 'not_approved'
  return (
    whyLimited(limits, token, given) ??
    (given.every((scope) => isIncluded(scope, limits)) ? undefined : 'not_requested')
  )
}

/**
 * Checks the limits of the client itself. The registered scope limits machines, and scopes that need an approval. It does not
 * limit scopes that a user's consent gives to any client, because any client may register again (decision 0006).
 */
function whyLimited(limits: Limits, token: string, given: readonly ApiScope[]): ScopeReason | undefined {
  const { client, kind, registered, installable } = limits
  const takesRegistration = kind === 'machine' || given.some(({ grantedTo }) => grantedTo === 'approved-clients')
  if (takesRegistration && registered?.includes(token) === false) return 'not_registered'
  // OpenID Connect Core 1.0 §11: it has no meaning for a client that gets no refresh tokens.
  if (token === 'offline_access' && !client.metadata.grant_types.includes('refresh_token')) return 'not_registered'
  return installable === undefined || installable.includes(token) ? undefined : 'not_installed'
}

/** Whether a request that does not name the scope includes it. */
function isIncluded(scope: ApiScope, { from, kind }: Limits): boolean {
  switch (from) {
    case 'requested':
      return true
    case 'registered':
      return scope.grantedTo !== 'users-on-request'
    case 'default':
      return isByDefault(scope, kind)
  }
}

function everyScope(apis: readonly ApiRecord[]): Scope {
  return scopeOf(apis.flatMap(({ scopes }) => scopes.map(({ name }) => name)))
}

function tokensOf(scope: Scope | undefined): readonly string[] | undefined {
  return scope === undefined ? undefined : scopeTokens(scope)
}

function identifierOf({ resource }: ApiRecord): Resource {
  return resource
}

function refused(refusal: ScopeRefusal): ScopeDecision {
  return { kind: 'refused', refusal }
}
