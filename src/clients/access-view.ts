import { distinctTexts, type LocalizedText } from '../base/localized-text.ts'
import type { ResourceView, ScopeView } from '../ports/pages/parts.ts'
import type { ApiRecord, ApiScope } from '../ports/records/api.ts'
import type { AuthorizationRecord } from '../ports/records/authorization.ts'
import { NO_SCOPE, scopeTokens } from '../protocol/token/scope.ts'

/** What a client requests, in terms that a user understands. */
export interface AccessView {
  readonly scopes: readonly Omit<ScopeView, 'box'>[]
  readonly resources: readonly ResourceView[]
}

/** Describes the access that an authorization request asks for, with the sentences of the declared APIs. */
export function describeAccess(
  apis: readonly ApiRecord[],
  { scope, resources }: Pick<AuthorizationRecord, 'resources' | 'scope'>,
): AccessView {
  const named = resources.length === 0 ? apis : apis.filter(({ resource }) => resources.includes(resource))
  const declared = named.flatMap((api) => api.scopes)
  return {
    scopes: scopeTokens(scope).map((name) => ({ name, sentences: sentencesOf(name, declared) })),
    resources: resources.map((identifier) => {
      const api = named.find(({ resource }) => resource === identifier)
      // If no API is declared, any scope of the client's own limits the access.
      const isLimited = api === undefined ? scope !== NO_SCOPE : api.scopes.length > 0
      return { name: api?.name, identifier, isLimited }
    }),
  }
}

/** A scope name may have a different meaning for each API. The user allows all of them, so each is listed. */
function sentencesOf(name: string, declared: readonly ApiScope[]): readonly LocalizedText[] {
  return distinctTexts(declared.filter((one) => one.name === name).map(({ sentence }) => sentence))
}
