import type { Context } from '../ports/context.ts'
import type { ApiRecord, ApiScope } from '../ports/records/api.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { apisWithScope, findScopes } from '../clients/declared-scopes.ts'
import { acceptsAnyScope } from '../clients/registration-policy.ts'
import type { EpochMs } from '../base/brand.ts'
import { groupClaimOf } from '../protocol/client/policy.ts'
import { describeSentUri } from '../protocol/uri/canonical-uri.ts'
import { findNamed, namesIssuer, type Resource } from '../protocol/token/resource.ts'
import {
  IDENTITY_SCOPES,
  isIdentityScope,
  isOpenid,
  isWithin,
  type IdentityScope,
  type Scope,
} from '../protocol/token/scope.ts'

/**
 * The scopes and resources that clients may request: those of the declared APIs (decision 0006). If the issuer is a loopback
 * address and no API is declared, the catalog is open and accepts every scope and resource, so that a first try needs no setup.
 */
export interface ScopeCatalog {
  readonly isOpen: boolean
  readonly apis: readonly ApiRecord[]
  readonly issuer: string
  /**
   * Other APIs, which were declared under another issuer, and whose identifier is the issuer now; usually none. They get no tokens, and as
   * long as there is one, no request may name the issuer: its token would go to that API, which could use it here (threats.md OP-18).
   */
  readonly ofIssuer: readonly ApiRecord[]
}

/**
 * The scopes of the issuer, which is an API too: of its userinfo endpoint. OpenID Connect Core 1.0 §5.4 and §11. They belong to no
 * other API, so no access token for another API has them. The pages have the sentences in every language.
 */
const IDENTITY_DECLARATIONS: readonly ApiScope[] = IDENTITY_SCOPES.map((name) => ({
  name,
  sentence: '',
  grantedTo: name === 'phone' || name === 'address' ? 'approved-clients' : 'users',
}))
/** Those that the metadata lists. A client that asks for `offline_access` because it is listed would ask the user each time. */
export const ADVERTISED_IDENTITY_SCOPES: readonly string[] = ['openid', 'profile', 'email']

/**
 * The client that requests a scope: with a user's consent (`user`), for a user whose provider decided instead (`asserted-user`), or without
 * a user (`machine`).
 */
export interface ScopeRecipient {
  readonly kind: 'user' | 'asserted-user' | 'machine'
  readonly client: Pick<ClientRecord, 'approvedScope' | 'source' | 'rules'>
}

export async function loadScopeCatalog(context: Context): Promise<ScopeCatalog> {
  return scopeCatalogOf(context, await context.apis())
}

/** The same for callers that have read the APIs. */
export function scopeCatalogOf(
  { issuer, settings }: Pick<Context, 'issuer' | 'settings'>,
  apis: readonly ApiRecord[],
): ScopeCatalog {
  const isOpen = acceptsAnyScope(settings, apis)
  const known = catalogs.get(apis)
  if (known?.issuer === issuer && known.isOpen === isOpen) return known
  const ofIssuer = apis.filter(({ resource }) => namesIssuer(resource, issuer))
  const others = ofIssuer.length === 0 ? apis : apis.filter((api) => !ofIssuer.includes(api))
  const catalog = { isOpen, apis: others, issuer, ofIssuer }
  catalogs.set(apis, catalog)
  return catalog
}

/** Catalogs by list of APIs, which is the same object until an operator changes it. */
const catalogs = new WeakMap<readonly ApiRecord[], ScopeCatalog>()

/**
 * Returns the scopes for metadata documents. RFC 8414 §2, RFC 9728 §2. Some clients request all of them, MCP clients for example.
 * The documents therefore list only the default scopes of a user. They omit scopes that need an approval, and scopes that are
 * granted only on request.
 */
export function advertisedScopes({ scopes }: Pick<ApiRecord, 'scopes'>): readonly string[] {
  return scopes.filter((scope) => isByDefault(scope, 'user')).map(({ name }) => name)
}

/** Whether a client that requests no scope gets this one. */
export function isByDefault({ grantedTo }: Pick<ApiScope, 'grantedTo'>, kind: ScopeRecipient['kind']): boolean {
  return grantedTo === 'users-and-machines' || (grantedTo === 'users' && kind !== 'machine')
}

/** Returns the API of a resource; undefined if the server issues no token for it. */
export function findApi({ apis }: Pick<ScopeCatalog, 'apis'>, requested: string): ApiRecord | undefined {
  return findNamed(apis, requested)
}

/** Returns the resource as declared; undefined if the server issues no token for it. */
export function findResource(catalog: ScopeCatalog, requested: Resource): Resource | undefined {
  const isAccepted = catalog.isOpen && !namesIssuer(requested, catalog.issuer)
  return findApi(catalog, requested)?.resource ?? (isAccepted ? requested : undefined)
}

/**
 * Returns the resources that name APIs. A client that may know who the user is can always get a token for the issuer, so naming the issuer
 * adds nothing. RFC 8707 §2: the same resources are named at both endpoints.
 */
export function withoutIssuer(
  { issuer, ofIssuer }: ScopeCatalog,
  scope: Scope,
  requested: readonly Resource[],
): readonly Resource[] {
  if (requested.length === 0 || ofIssuer.length > 0 || !isOpenid(scope)) return requested
  return requested.filter((one) => !namesIssuer(one, issuer))
}

/** Returns the resources as declared, without duplicates; undefined if the server issues no token for one of them. */
export function findResources(catalog: ScopeCatalog, requested: readonly Resource[]): readonly Resource[] | undefined {
  if (requested.length === 0) return requested
  const found = requested.map((one) => findResource(catalog, one))
  return found.includes(undefined) ? undefined : [...new Set(found.filter((one) => one !== undefined))]
}

/** Returns the `error_description` of a request for resources of which one is unknown. It names that one. */
export function describeUnknown(catalog: ScopeCatalog, requested: readonly Resource[]): string {
  const unknown = requested.find((one) => findResource(catalog, one) === undefined) ?? ''
  return `No API is declared for ${describeSentUri(unknown) ?? 'a resource of the request'}.`
}

/** Registration gives no authority (decision 0006): the user's consent does, or the API's operator. */
function isGrantedTo({ name, grantedTo, stepUp }: ApiScope, { kind, client }: ScopeRecipient): boolean {
  // No user has authenticated here, also where a client acts for one who did not sign in.
  if (stepUp !== undefined && kind !== 'user') return false
  switch (grantedTo) {
    case 'users-and-machines':
      return true
    case 'users':
    case 'users-on-request':
      return kind !== 'machine' || isApproved(client, name)
    case 'approved-clients':
      return isApproved(client, name)
  }
}

/**
 * Returns the declarations that give the client a scope; empty if it may not have the scope. In a token for APIs, every API that
 * declares the scope must give it: the token names all of them, and each API reads the scope as its own. In a token for the
 * issuer, one API is enough.
 */
export function givenBy(
  declared: readonly ApiScope[],
  recipient: ScopeRecipient,
  audience: 'apis' | 'issuer',
): readonly ApiScope[] {
  const given = declared.filter((scope) => isGrantedTo(scope, recipient))
  return audience === 'apis' && given.length < declared.length ? [] : given
}

/** Whether a client with a user's consent gets an identity scope. An operator may withdraw the approval for some of them. */
export function givesIdentity(client: ScopeRecipient['client'], token: IdentityScope): boolean {
  return reads(client, token) && givenBy(declarationsOf([], token), { kind: 'user', client }, 'issuer').length > 0
}

/** Whether a scope means something for the client: `groups` only where the operator said which claim it reads. */
export function reads(client: ScopeRecipient['client'], token: string): boolean {
  return token !== 'groups' || groupClaimOf(client) !== undefined
}

/** Returns the APIs of these resources. Without a resource, returns all APIs. */
export function audienceOf(catalog: ScopeCatalog, resources: readonly Resource[]): readonly ApiRecord[] {
  return resources.length === 0 ? catalog.apis : apisAt(catalog, resources)
}

/** Returns the declarations of a scope by these APIs. The issuer declares the identity scopes. */
export function declarationsOf(apis: readonly ApiRecord[], token: string): readonly ApiScope[] {
  if (isIdentityScope(token)) return IDENTITY_DECLARATIONS.filter(({ name }) => name === token)
  return findScopes(apis, token)
}

/** Returns the time at which the last of these APIs declared the scope; 0 if none declares it. */
export function declaredSince(catalog: ScopeCatalog, token: string, resources: readonly Resource[]): EpochMs {
  const declaring = apisWithScope(apisAt(catalog, resources), token)
  const times = declaring.map(({ scopesSince, createdAt }) => scopesSince.get(token) ?? createdAt)
  return Math.max(0, ...times) as EpochMs
}

/**
 * Returns the time at which the last scope name that several of these APIs share was declared; 0 if they share none. An older
 * consent does not say for which of the APIs the user allowed such a scope.
 */
export function sharedScopesSince(catalog: ScopeCatalog, resources: readonly Resource[]): EpochMs {
  const seen = new Set<string>()
  const names = apisAt(catalog, resources).flatMap(({ scopes }) => scopes.map(({ name }) => name))
  const shared = names.filter((name) => seen.size === seen.add(name).size)
  return Math.max(0, ...shared.map((name) => declaredSince(catalog, name, resources))) as EpochMs
}

function apisAt(catalog: ScopeCatalog, resources: readonly Resource[]): readonly ApiRecord[] {
  const named = resources.map((one) => findApi(catalog, one))
  return catalog.apis.filter((api) => named.includes(api))
}

function isApproved({ approvedScope }: ScopeRecipient['client'], name: string): boolean {
  return isWithin(name as Scope, approvedScope)
}
