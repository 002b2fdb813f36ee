import type { Context } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records.ts'
import { sameResource, type Resource } from '../protocol/resource.ts'
import { scopeTokens, type Scope } from '../protocol/scope.ts'

/**
 * What may be asked for (decisions.md D6): the scopes and resources of the declared APIs. While the issuer is a loopback
 * address and no API is declared, everything, so that the first five minutes just work.
 */
export interface Offers {
  readonly isOpen: boolean
  readonly apis: readonly ApiRecord[]
}

/** By whom a scope is asked for: with a person's consent, or by a client alone. */
export type Asker = 'user' | 'machine'

export async function findOffers(context: Pick<Context, 'apis' | 'settings'>): Promise<Offers> {
  const apis = await context.apis()
  return { isOpen: context.settings.isLoopbackIssuer && apis.length === 0, apis }
}

/** Whether any API declares the scope. */
export function offersScope({ isOpen, apis }: Offers, token: string): boolean {
  return isOpen || apis.some((api) => api.scopes.some(({ name }) => name === token))
}

/** The resource as its operator declared it; undefined when no token is issued for it here. */
export function findResource({ isOpen, apis }: Offers, asked: Resource): Resource | undefined {
  const api = apis.find(({ resource }) => sameResource(resource, asked))
  return api?.resource ?? (isOpen ? asked : undefined)
}

/** Whether `asker` may have a scope of these resources; without a resource, of any API. */
export function allowsScope(offers: Offers, token: string, resources: readonly Resource[], asker: Asker): boolean {
  if (offers.isOpen) return true
  const apis = resources.length === 0 ? offers.apis : offers.apis.filter(({ resource }) => resources.includes(resource))
  return apis.some((api) =>
    api.scopes.some(
      ({ name, grantedTo }) => name === token && (asker === 'user' || grantedTo === 'users-and-machines'),
    ),
  )
}

/** The scope's tokens that are not allowed. */
export function refusedTokens(
  offers: Offers,
  scope: Scope,
  resources: readonly Resource[],
  asker: Asker,
): readonly string[] {
  return scopeTokens(scope).filter((token) => !allowsScope(offers, token, resources, asker))
}
