import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import { isOpenid, NO_SCOPE, unite } from '../../protocol/token/scope.ts'
import type { AccessRule } from '../../protocol/access/rule.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { ALWAYS_MET, findRuling, hasNoRules, recordRuling } from '../../tokens/access-rules.ts'
import type { Fault } from './authorization-error.ts'
import type { Subject } from './interaction.ts'

/** What access rules leave of a request for a user. */
export interface RuledRequest {
  /** The request without what is left out, which counts as scope that the client requested and did not get. */
  readonly allowed: AuthorizationRecord
  /** The scopes that are left out, each with the rule that takes it. */
  readonly leftOut: ReadonlyMap<string, AccessRule>
  /** Set if nothing is left, or nothing of an API. */
  readonly nothing: NothingLeft | undefined
}

export interface NothingLeft {
  /** Of the rules. */
  readonly sentences: readonly string[]
  /** Logs and counts that the rules took all. A token that is issued does it for what they left out. */
  readonly record: () => void
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
  const leftOut = ruling.takenBy
  if (ruling.isNothing) {
    const record = () => recordRuling(context, access, ruling)
    return { allowed: authorization, leftOut, nothing: { sentences: [...sentences], record } }
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
