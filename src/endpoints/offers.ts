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

/** The resource as its operator declared it; undefined when no token is issued for it here. */
export function findResource({ isOpen, apis }: Offers, asked: Resource): Resource | undefined {
  const api = apis.find(({ resource }) => sameResource(resource, asked))
  return api?.resource ?? (isOpen ? asked : undefined)
}

/** Whether `asker` may have a scope of these resources; without a resource, of any API. */
export function allowsScope(offers: Offers, token: string, resources: readonly Resource[], asker: ScopeAsker): boolean {
  if (offers.isOpen) return true
  const apis = resources.length === 0 ? offers.apis : offers.apis.filter(({ resource }) => resources.includes(resource))
  return apis.some((api) => api.scopes.some((scope) => scope.name === token && isGrantedTo(scope, asker)))
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
