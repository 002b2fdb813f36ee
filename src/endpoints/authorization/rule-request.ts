import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import { isOpenid, NO_SCOPE, scopeTokens, unite } from '../../protocol/token/scope.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { ALWAYS_MET, findRuling, hasNoRules, recordRuling } from '../../tokens/access-rules.ts'
import type { Fault } from './authorization-error.ts'
import type { Subject } from './interaction.ts'

/** What access rules leave of a request for a user. */
export interface RuledRequest {
  /** The request without what is left out, which counts as scope that the client requested and did not get. */
  readonly allowed: AuthorizationRecord
  /** The scopes that are left out, each with the sentence of its rule. undefined: it has none. */
  readonly leftOut: ReadonlyMap<string, string | undefined>
  /** Set if nothing is left, or nothing of an API: the sentences of the rules. */
  readonly nothing: readonly string[] | undefined
}

/** RFC 6749 §4.1.2.1. */
export const ACCESS_RULE: Fault = { error: 'access_denied', reason: 'access_rule' }

/**
 * Applies the access rules to a request, before a page is shown and with each answer; those of an organization once it is chosen. A level that a
 * rule demands is asked for as that of a scope (`decideLevel`).
 */
export async function ruleRequest(
  context: Context,
  { authorization, client }: Pick<Subject, 'authorization' | 'client'>,
  userId: UserId,
  organizationId: OrganizationId | undefined,
): Promise<RuledRequest> {
  const whole = { allowed: authorization, leftOut: new Map(), nothing: undefined }
  if (hasNoRules(context, organizationId)) return whole
  const { scope, resources, openid } = authorization
  const access = { client, userId, organizationId, scope, resources }
  const ruling = await findRuling(context, access, ALWAYS_MET)
  if (ruling === undefined) return whole
  const sentences = new Set(ruling.taking.flatMap(({ rule }) => rule.sentence ?? []))
  const leftOut = new Map(scopeTokens(ruling.leftOut).map((token) => [token, ruling.sentences.get(token)]))
  if (ruling.isNothing) {
    recordRuling(context, access, ruling)
    return { allowed: authorization, leftOut, nothing: [...sentences] }
  }
  if (ruling.leftOut === NO_SCOPE) return whole
  const allowed = {
    ...authorization,
    scope: ruling.scope,
    ungrantedScope: unite(authorization.ungrantedScope, ruling.leftOut),
    // Without the scope the request does not ask who the user is.
    openid: isOpenid(ruling.scope) ? openid : undefined,
  }
  return { allowed, leftOut, nothing: undefined }
}
