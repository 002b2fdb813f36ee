import type { Context } from '../ports/context.ts'
import type { ApiRecord, ApiScope } from '../ports/operator-records.ts'
import type { ClientRecord } from '../ports/records.ts'
import { sameResource, type Resource } from '../protocol/resource.ts'
import { isWithin, scopeTokens, type Scope } from '../protocol/scope.ts'

/**
 * What may be asked for (decisions.md D6): the scopes and resources of the declared APIs. While the issuer is a loopback
 * address and no API is declared, everything, so that the first five minutes just work.
 */
export interface Offers {
  readonly isOpen: boolean
  readonly apis: readonly ApiRecord[]
}

/** Who asks for a scope: which client, with a person's consent or by itself. */
export interface ScopeAsker {
  readonly kind: 'user' | 'machine'
  readonly client: Pick<ClientRecord, 'approvedScope'>
}

export async function findOffers(context: Pick<Context, 'apis' | 'settings'>): Promise<Offers> {
  const apis = await context.apis()
  return { isOpen: context.settings.isLoopbackIssuer && apis.length === 0, apis }
}

/** Whether any API declares the scope, so that a client may register it; whether it gets it is another question. */
export function offersScope({ isOpen, apis }: Offers, token: string): boolean {
  return isOpen || apis.some((api) => api.scopes.some(({ name }) => name === token))
}

/** Whether an API of these resources declares the scope. */
export function offersScopeAt({ isOpen, apis }: Offers, token: string, resources: readonly Resource[]): boolean {
  const those = apis.filter(({ resource }) => resources.some((one) => sameResource(one, resource)))
  return offersScope({ isOpen, apis: those }, token)
}

/**
 * The scopes that documents name. Clients ask for all of those (MCP does), so what is given to approved clients alone is left
 * out: they know it already, and everybody else would be refused for it. RFC 8414 §2, RFC 9728 §2.
 */
export function advertisedScopes({ scopes }: Pick<ApiRecord, 'scopes'>): readonly string[] {
  return scopes.filter(({ grantedTo }) => grantedTo !== 'approved-clients').map(({ name }) => name)
}

/** The resource as its operator declared it; undefined when no token is issued for it here. */
export function findResource({ isOpen, apis }: Offers, asked: Resource): Resource | undefined {
  const api = apis.find(({ resource }) => sameResource(resource, asked))
  return api?.resource ?? (isOpen ? asked : undefined)
}

/**
 * Whether `asker` may have a scope of these resources; without a resource, of any API. Every one of several that declares it
 * must give it: the token names them all, and each reads the word as its own.
 */
export function allowsScope(
  { isOpen, apis }: Offers,
  token: string,
  resources: readonly Resource[],
  asker: ScopeAsker,
): boolean {
  if (isOpen) return true
  const those = resources.length === 0 ? apis : apis.filter(({ resource }) => resources.includes(resource))
  const declared = those.flatMap((api) => api.scopes.find(({ name }) => name === token) ?? [])
  const given = declared.filter((scope) => isGrantedTo(scope, asker))
  return given.length > 0 && (resources.length === 0 || given.length === declared.length)
}

/** The scope's tokens that are not allowed. */
export function refusedTokens(
  offers: Offers,
  scope: Scope,
  resources: readonly Resource[],
  asker: ScopeAsker,
): readonly string[] {
  return scopeTokens(scope).filter((token) => !allowsScope(offers, token, resources, asker))
}

/** Registering gives no authority (decisions.md D6): the person's consent does, or the API's operator. */
function isGrantedTo({ name, grantedTo }: ApiScope, { kind, client }: ScopeAsker): boolean {
  switch (grantedTo) {
    case 'users-and-machines':
      return true
    case 'users':
      return kind === 'user' || isApproved(client, name)
    case 'approved-clients':
      return isApproved(client, name)
  }
}

function isApproved({ approvedScope }: ScopeAsker['client'], name: string): boolean {
  return isWithin(name as Scope, approvedScope)
}
