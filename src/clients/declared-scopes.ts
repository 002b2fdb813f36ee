import type { ApiRecord, ApiScope } from '../ports/records/api.ts'
import { MAXIMA } from '../base/maxima.ts'

/**
 * Where a scope is declared. A request may name many scopes, and a server may declare a hundred thousand: each look-up has to cost the same,
 * however many there are (threats.md BND-08).
 */

/** Returns the declaration of a scope by one API; undefined if the API does not declare it. */
export function findScope(api: ApiRecord, name: string): ApiScope | undefined {
  const known = scopes.get(api) ?? new Map(api.scopes.map((scope) => [scope.name, scope]))
  scopes.set(api, known)
  return known.get(name)
}

/** Returns the APIs of a list that declare a scope, in the order of the list. */
export function apisWithScope(apis: readonly ApiRecord[], name: string): readonly ApiRecord[] {
  // The APIs of one request are a list of its own, for which an index is not worth while.
  if (apis.length <= MAXIMA.resourcesOfRequest.most) return apis.filter((api) => findScope(api, name) !== undefined)
  const index = lists.get(apis) ?? indexOf(apis)
  lists.set(apis, index)
  return index.get(name) ?? []
}

/** Both by record and list, which are the same objects until an operator changes them. */
const scopes = new WeakMap<ApiRecord, ReadonlyMap<string, ApiScope>>()
const lists = new WeakMap<readonly ApiRecord[], ReadonlyMap<string, readonly ApiRecord[]>>()

function indexOf(apis: readonly ApiRecord[]): ReadonlyMap<string, readonly ApiRecord[]> {
  const index = new Map<string, ApiRecord[]>()
  for (const api of apis)
    for (const { name } of api.scopes) {
      const declaring = index.get(name)
      if (declaring === undefined) index.set(name, [api])
      else declaring.push(api)
    }
  return index
}
