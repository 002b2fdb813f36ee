import type { ApiRecord, ApiScope } from '../ports/records/api.ts'
import { MAXIMA } from '../base/maxima.ts'

/**
 * Where a scope is declared. A request may name many scopes, and a server may declare a hundred thousand: each look-up has to cost the same,
 * however many there are (threats.md BND-08).
 */

/** Returns the declaration of a scope by one API; undefined if the API does not declare it. */
export function findScope(api: ApiRecord, name: string): ApiScope | undefined {
  return (scopes.get(api) ?? indexScopes(api)).get(name)
}

/** Returns the declarations of a scope by a list of APIs, in the order of the list. */
export function findScopes(apis: readonly ApiRecord[], name: string): readonly ApiScope[] {
  const found: ApiScope[] = []
  // Runs for each scope of each token. flatMap would allocate an array for each API.
  for (const api of isShort(apis) ? apis : apisWithScope(apis, name)) {
    const scope = findScope(api, name)
    if (scope !== undefined) found.push(scope)
  }
  return found
}

/** Returns the APIs of a list that declare a scope, in the order of the list. */
export function apisWithScope(apis: readonly ApiRecord[], name: string): readonly ApiRecord[] {
  if (isShort(apis)) return apis.filter((api) => findScope(api, name) !== undefined)
  return (lists.get(apis) ?? indexApis(apis)).get(name) ?? []
}

/** The APIs of one request are a list of its own, for which an index is not worth while. */
function isShort({ length }: readonly ApiRecord[]): boolean {
  return length <= MAXIMA.resourcesOfRequest.most
}

/** Both by record and list, which are the same objects until an operator changes them. */
const scopes = new WeakMap<ApiRecord, ReadonlyMap<string, ApiScope>>()
const lists = new WeakMap<readonly ApiRecord[], ReadonlyMap<string, readonly ApiRecord[]>>()

function indexScopes(api: ApiRecord): ReadonlyMap<string, ApiScope> {
  const index = new Map(api.scopes.map((scope) => [scope.name, scope]))
  scopes.set(api, index)
  return index
}

function indexApis(apis: readonly ApiRecord[]): ReadonlyMap<string, readonly ApiRecord[]> {
  const index = new Map<string, ApiRecord[]>()
  for (const api of apis)
    for (const { name } of api.scopes) {
      const declaring = index.get(name)
      if (declaring === undefined) index.set(name, [api])
      else declaring.push(api)
    }
  lists.set(apis, index)
  return index
}
