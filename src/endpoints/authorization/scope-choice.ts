import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { Parameters } from '../../base/message.ts'
import { narrow, scopeTokens, subtract, unite } from '../../protocol/token/scope.ts'
import type { ScopeCatalog } from '../../requests/scope-catalog.ts'
import { withoutShare } from '../../requests/scope-decision.ts'

/** With more, the form would have more fields than the server reads. */
const CHOICE_LIMIT = 50

/** Without it the request would be another one: the client asks who the user is (OpenID Connect Core §3.1.2.1). */
const NEEDED = 'openid'

/** The name of the box for a scope on the consent page. The box of a scope that the user allows is sent. */
export function boxOf(token: string): string {
  return `allow.${token}`
}

/** Returns the scopes that the user may leave out. None if there is only one: the user can deny the request instead. */
export function choosableScopes({ scope }: Pick<AuthorizationRecord, 'scope'>): readonly string[] {
  const tokens = scopeTokens(scope)
  return tokens.length > 1 && tokens.length <= CHOICE_LIMIT ? tokens.filter((token) => token !== NEEDED) : []
}

/**
 * Returns the request with the part of its scope that the user allowed. RFC 6749 §3.3. What the user left out counts as scope that
 * the client requested and did not get, so a refresh that repeats it is not refused.
 *
 * `scope-missing`: nothing remains, or nothing of an API that the token would be for.
 */
export function chooseScope(
  catalog: ScopeCatalog,
  authorization: AuthorizationRecord,
  isAllowed: (token: string) => boolean,
): AuthorizationRecord | 'scope-missing' {
  const scope = narrow(authorization.scope, (token) => token === NEEDED || isAllowed(token))
  if (scope === authorization.scope) return authorization
  const isTooLittle =
    scopeTokens(scope).length === 0 || withoutShare(catalog, scope, authorization.resources).length > 0
  if (isTooLittle) return 'scope-missing'
  const ungrantedScope = unite(authorization.ungrantedScope, subtract(authorization.scope, scope))
  return { ...authorization, scope, ungrantedScope }
}

/** Reads the boxes of the form. A scope without a box is allowed. */
export function readBoxes(params: Parameters, authorization: AuthorizationRecord): (token: string) => boolean {
  const choosable = new Set(choosableScopes(authorization))
  return (token) => !choosable.has(token) || params.get(boxOf(token)) !== undefined
}
