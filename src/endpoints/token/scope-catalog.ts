import type { Context } from '../../ports/context.ts'
import type { ApiRecord, ApiScope } from '../../ports/records/api.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { sameResource, type Resource } from '../../protocol/resource.ts'
import { isWithin, type Scope } from '../../protocol/scope.ts'

/**
 * What may be asked for (decisions.md D6): the scopes and resources of the declared APIs. While the issuer is a loopback
 * address and no API is declared, everything, so that the first five minutes just work.
 */
export interface ScopeCatalog {
  readonly isOpen: boolean
  readonly apis: readonly ApiRecord[]
}

/** The client that asks for a scope, with a person's consent or by itself. */
export interface ScopeRecipient {
  readonly kind: 'user' | 'machine'
  readonly client: Pick<ClientRecord, 'approvedScope'>
}

export async function loadScopeCatalog(context: Pick<Context, 'apis' | 'settings'>): Promise<ScopeCatalog> {
  const apis = await context.apis()
  return { isOpen: context.settings.isLoopbackIssuer && apis.length === 0, apis }
}

/** Whether any API declares the scope, so that a client may register it; whether it gets it is another question. */
export function declaresScope({ isOpen, apis }: ScopeCatalog, token: string): boolean {
  return isOpen || apis.some((api) => api.scopes.some(({ name }) => name === token))
}

/**
 * The scopes that documents name, RFC 8414 §2 and RFC 9728 §2. Clients request all of those (MCP does), so the documents
 * name the default of a person and nothing else: not what the operator approves single clients for, and not what a client
 * gets on request only.
 */
export function advertisedScopes({ scopes }: Pick<ApiRecord, 'scopes'>): readonly string[] {
  return scopes.filter((scope) => isByDefault(scope, 'user')).map(({ name }) => name)
}

/** Whether a client that requests no scope gets this one: any client may have it. */
export function isByDefault({ grantedTo }: Pick<ApiScope, 'grantedTo'>, kind: ScopeRecipient['kind']): boolean {
  return grantedTo === 'users-and-machines' || (grantedTo === 'users' && kind === 'user')
}

/** The resource as its operator declared it; undefined when no token is issued for it here. */
export function findResource({ isOpen, apis }: ScopeCatalog, asked: Resource): Resource | undefined {
  const api = apis.find(({ resource }) => sameResource(resource, asked))
  return api?.resource ?? (isOpen ? asked : undefined)
}

/** The resources as their operators declared them, each once; undefined when no token is issued for one of them here. */
export function findResources(catalog: ScopeCatalog, asked: readonly Resource[]): readonly Resource[] | undefined {
  const found = asked.map((one) => findResource(catalog, one))
  return found.includes(undefined) ? undefined : [...new Set(found.filter((one) => one !== undefined))]
}

/** Registering gives no authority (decisions.md D6): the person's consent does, or the API's operator. */
function isGrantedTo({ name, grantedTo }: ApiScope, { kind, client }: ScopeRecipient): boolean {
  switch (grantedTo) {
    case 'users-and-machines':
      return true
    case 'users':
    case 'users-on-request':
      return kind === 'user' || isApproved(client, name)
    case 'approved-clients':
      return isApproved(client, name)
  }
}

/**
 * The declarations by which the client has a scope at these APIs; none: it may not have it there. Each API that declares it must
 * give it, because the token names them all, and each reads the word as its own. A token for the issuer may have what any API gives.
 */
export function givenBy(
  declared: readonly ApiScope[],
  asker: ScopeRecipient,
  audience: 'apis' | 'issuer',
): readonly ApiScope[] {
  const given = declared.filter((scope) => isGrantedTo(scope, asker))
  return audience === 'apis' && given.length < declared.length ? [] : given
}

/** The APIs of these resources; of no resource: all APIs. */
export function audienceOf(catalog: ScopeCatalog, resources: readonly Resource[]): readonly ApiRecord[] {
  return resources.length === 0 ? catalog.apis : apisAt(catalog, resources)
}

/** The declarations of a scope by these APIs. */
export function declarationsOf(apis: readonly ApiRecord[], token: string): readonly ApiScope[] {
  const declared: ApiScope[] = []
  // Runs for each scope of each token: flatMap would make an array for each API.
  for (const { scopes } of apis) for (const scope of scopes) if (scope.name === token) declared.push(scope)
  return declared
}

/** The time since when all of these APIs that declare a scope do so; 0: none of them declares it. */
export function declaredSince(catalog: ScopeCatalog, token: string, resources: readonly Resource[]): EpochMs {
  const declaring = apisAt(catalog, resources).filter(({ scopes }) => scopes.some(({ name }) => name === token))
  const times = declaring.map(({ scopesSince, createdAt }) => scopesSince.get(token) ?? createdAt)
  return Math.max(0, ...times) as EpochMs
}

/**
 * The time since when these APIs declare the scope names that several of them declare; 0: their scopes differ. A consent from
 * before does not say at which of the APIs the person allowed such a scope.
 */
export function sharedScopesSince(catalog: ScopeCatalog, resources: readonly Resource[]): EpochMs {
  const names = apisAt(catalog, resources).flatMap(({ scopes }) => scopes.map(({ name }) => name))
  const shared = names.filter((name, index) => names.indexOf(name) < index)
  return Math.max(0, ...shared.map((name) => declaredSince(catalog, name, resources))) as EpochMs
}

function apisAt({ apis }: ScopeCatalog, resources: readonly Resource[]): readonly ApiRecord[] {
  return apis.filter(({ resource }) => resources.some((one) => sameResource(one, resource)))
}

function isApproved({ approvedScope }: ScopeRecipient['client'], name: string): boolean {
  return isWithin(name as Scope, approvedScope)
}
