import type { ApiRecord, ScopeStepUp } from '../ports/records/api.ts'
import type { AuthorizationRecord } from '../ports/records/authorization.ts'
import { meetsAcr, reachableLevel } from '../protocol/sign-in/acr.ts'
import type { Authentication, AuthenticationLevel } from '../protocol/sign-in/authentication.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { narrow, NO_SCOPE, scopeTokens, type Scope } from '../protocol/token/scope.ts'
import { apisWithScope, findScope } from '../clients/declared-scopes.ts'

/** What the scopes of a request require, by scope. A scope without a requirement is absent. */
export type StepUps = ReadonlyMap<string, ScopeStepUp>

type Asked = Pick<AuthorizationRecord, 'scope' | 'resources'>

/**
 * Finds what the scopes of a request require. Of several APIs that declare a scope, the strictest decides, also where a token for the
 * issuer names none of them.
 */
export function findStepUps(apis: readonly ApiRecord[], { scope, resources }: Asked): StepUps {
  const found = new Map<string, ScopeStepUp>()
  if (scope === NO_SCOPE) return found
  for (const token of scopeTokens(scope))
    for (const api of apisWithScope(apis, token)) {
      if (resources.length > 0 && !resources.includes(api.resource)) continue
      const stepUp = findScope(api, token)?.stepUp
      if (stepUp !== undefined) found.set(token, strictest(stepUp, found.get(token)))
    }
  return found
}

/** The same with what access rules demand of the user. */
export function withDemands(
  stepUps: StepUps,
  demands: readonly (readonly [token: string, stepUp: ScopeStepUp])[],
): StepUps {
  if (demands.length === 0) return stepUps
  const found = new Map(stepUps)
  for (const [token, stepUp] of demands) found.set(token, strictest(stepUp, found.get(token)))
  return found
}

function strictest(one: ScopeStepUp, another: ScopeStepUp | undefined): ScopeStepUp {
  if (another === undefined) return one
  const ages = [one.maxAge, another.maxAge].filter((age) => age !== undefined)
  const level = one.level > another.level ? one.level : another.level
  return { level, maxAge: ages.length === 0 ? undefined : Math.min(...ages) }
}

/** The time from which the user must have authenticated for all scopes of a request of this time. undefined: any. */
export function authenticatedSinceOf(stepUps: StepUps, now: EpochMs): EpochMs | undefined {
  const ages = [...stepUps.values()].flatMap(({ maxAge }) => maxAge ?? [])
  return ages.length === 0 ? undefined : after(now, -Math.min(...ages) * 1000)
}

/** The part of the scope of a request whose requirements an authentication does not meet. */
export function withheldScope(
  stepUps: StepUps,
  { scope, createdAt }: Pick<AuthorizationRecord, 'scope' | 'createdAt'>,
  { level, at }: { readonly level: AuthenticationLevel } & Pick<Authentication, 'at'>,
): Scope {
  if (stepUps.size === 0) return NO_SCOPE
  return narrow(scope, (token) => {
    const stepUp = stepUps.get(token)
    return stepUp !== undefined && (level < stepUp.level || isOlder(stepUp, createdAt, at))
  })
}

/** Whether a scope whose level is in reach requires a newer authentication. The age of another scope asks for nothing. */
export function needsNewSignIn(
  stepUps: StepUps,
  { createdAt }: Pick<AuthorizationRecord, 'createdAt'>,
  { at }: Pick<Authentication, 'at'>,
  reach: AuthenticationLevel,
): boolean {
  return [...stepUps.values()].some((stepUp) => stepUp.level <= reach && isOlder(stepUp, createdAt, at))
}

/** An unknown time is too old. */
function isOlder({ maxAge }: ScopeStepUp, requestedAt: EpochMs, at: EpochMs | undefined): boolean {
  return maxAge !== undefined && (at ?? 0) < after(requestedAt, -maxAge * 1000)
}

/** The level that a request needs and a session does not have. */
export interface LevelNeed {
  /** The level to ask the user for. undefined: the user can reach none that is needed. */
  readonly level: AuthenticationLevel | undefined
  /** No level in reach meets an essential `acr`. */
  readonly isUnmet: boolean
}

/**
 * What a request needs beyond the level of a session, for a user who can reach the level `reach`. A requirement out of reach is not asked
 * for: the value was voluntary, or the scope is left out.
 */
export function findLevelNeed(
  stepUps: StepUps,
  { authentication: request }: Pick<AuthorizationRecord, 'authentication'>,
  level: AuthenticationLevel,
  reach: AuthenticationLevel,
): LevelNeed {
  const isMet = request === undefined || meetsAcr(request, level)
  const requested = isMet ? undefined : reachableLevel(request, reach)
  const wanted = [...stepUps.values()].map((stepUp) => stepUp.level).filter((one) => one > level && one <= reach)
  const levels = requested === undefined ? wanted : [...wanted, requested]
  return {
    level: levels.length === 0 ? undefined : (Math.max(...levels) as AuthenticationLevel),
    isUnmet: !isMet && requested === undefined && request.isEssential,
  }
}

/** Whether your application is to authenticate the person with two factors for a request; it can state no more. */
export function needsMultiFactor(apis: readonly ApiRecord[], authorization: AuthorizationRecord): boolean {
  return findLevelNeed(findStepUps(apis, authorization), authorization, 1, 2).level === 2
}
