import * as z from 'zod'
import type { ScopeStepUp } from '../../ports/records/api.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import type { AuthenticationLevel } from '../../protocol/sign-in/authentication.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import { NO_SCOPE, scopeOf, scopeTokens, subtract, type Scope } from '../../protocol/token/scope.ts'
import { declarationsOf, type ScopeCatalog } from '../../requests/scope-catalog.ts'
import { decideScope, narrowScope, withoutShare, type Requester } from '../../requests/scope-decision.ts'
import { findStepUps, withheldScope } from '../../requests/step-up.ts'
import { findRuling, NEVER_MET, type RulingRule } from '../../tokens/access-rules.ts'
import type { TaskContext } from '../task.ts'
import { rulesOfScope, sayTaking, type RuleAbout, type ScopeRules } from './rules.ts'

const REASONS = [
  'not_declared',
  'not_approved',
  'not_registered',
  'not_installed',
  'access_rule',
  'level',
  'obstacle',
] as const

type Reason = (typeof REASONS)[number]

const EXPLAINED_SCOPE = z
  .object({
    scope: z.string(),
    gives: z.boolean(),
    on_request: z.boolean().describe('Whether it is given only to a request that names it.'),
    reason: z
      .enum(REASONS)
      .nullable()
      .describe(
        'Why it is not given. level: the account cannot reach the level. obstacle: nothing is given. null: it is given.',
      ),
    why: z.string().nullable().describe('The same in sentences. Where it is given: the level that it needs, or null.'),
  })
  .meta({ id: 'ExplainedScope' })
type ExplainedScope = z.output<typeof EXPLAINED_SCOPE>

/** What the person gets through the client from one API, or of the identity scopes. */
export const EXPLAINED_API = z
  .object({
    resource: z.string().nullable().describe('The identifier of the API; null: the identity scopes, such as openid.'),
    gives: z.boolean().describe('Whether a token is issued: something is left, and something of the API.'),
    why: z.string().nullable().describe('Why there is no token, where no scope says it; null otherwise.'),
    scopes: z.array(EXPLAINED_SCOPE),
  })
  .meta({ id: 'ExplainedApi' })
export type ExplainedApi = z.output<typeof EXPLAINED_API>

/** Who gets what by which way. */
export interface Decided {
  readonly client: ClientRecord
  readonly user: UserRecord
  readonly organizationId: OrganizationId | undefined
  readonly kind: Extract<Requester['kind'], 'user' | 'machine'>
  readonly installed: Scope | undefined
  /** The highest level that the account can reach. */
  readonly reach: AuthenticationLevel
  /** Nothing is given, whatever the scope is. */
  readonly isStopped: boolean
  readonly about: RuleAbout
}

/** A request: scopes at one API, or without one. */
export interface Asked {
  readonly resource: Resource | undefined
  readonly tokens: readonly string[]
}

/** What is explained, with the rules that were found about its scopes. */
export interface ExplainedAsked {
  readonly explained: ExplainedApi
  readonly rules: readonly (readonly [scope: string, rules: ScopeRules])[]
}

/**
 * Explains one request. Everything is decided by the functions with which requests are decided: the scopes that client, approval, registration
 * and installation leave (`decideScope`), what access rules leave of them (`findRuling`), and the level that the scopes require.
 */
export async function explainAsked(
  context: TaskContext,
  catalog: ScopeCatalog,
  decided: Decided,
  { resource, tokens }: Asked,
): Promise<ExplainedAsked> {
  const { client, user, organizationId, kind, installed, reach, isStopped } = decided
  const resources = resource === undefined ? [] : [resource]
  const requester: Requester = { kind, client, installed }
  const request = { scope: scopeOf(tokens), resources }
  const named = request.scope === NO_SCOPE ? { ...request, scope: undefined } : request
  const decision = decideScope(catalog, requester, request)
  const { scope: open, withheld } = narrowScope(catalog, requester, named)
  const access = { client, userId: user.id, organizationId, resources }
  const isMet = ({ level }: { readonly level: AuthenticationLevel }): boolean => kind === 'user' && level <= reach
  const granted = decision.kind === 'granted' ? decision.scope : open
  const ruling = await findRuling(context, { ...access, scope: granted }, isMet)
  const stepUps = findStepUps(catalog.apis, { scope: granted, resources })
  const now = context.clock()
  const beyond = withheldScope(stepUps, { scope: granted, createdAt: now }, { level: reach, at: now })
  const left = subtract(subtract(granted, ruling?.leftOut ?? NO_SCOPE), beyond)
  const isBare = withoutShare(catalog, left, resources).length > 0 || (tokens.length > 0 && left === NO_SCOPE)
  const gives = !isStopped && decision.kind === 'granted' && ruling?.isNothing !== true && !isBare

  // Each scope is asked about only if there is a rule for one of them.
  const isRuled = (await findRuling(context, { ...access, scope: granted }, NEVER_MET)) !== undefined
  const asked = tokens.length === 0 ? [''] : tokens.filter((token) => scopeTokens(granted).includes(token))
  const rules = await Promise.all(
    (isRuled ? asked : []).map(
      async (token) => [token, await rulesOfScope(context, { ...access, scope: token as Scope })] as const,
    ),
  )
  const rulesBy = new Map<string, ScopeRules>(rules)
  const apis = catalog.apis.filter((api) => resources.includes(api.resource))
  const isIn = (scope: Scope | undefined, token: string): boolean => scopeTokens(scope ?? NO_SCOPE).includes(token)
  const scopes = tokens.map((token): ExplainedScope => {
    const on = rulesBy.get(token)?.on ?? []
    const hard = kind === 'machine' ? on : on.filter(({ rule }) => rule.require === undefined)
    const required = requiredLevel(on, stepUps.get(token))
    const reason = ((): Reason | null => {
      const limit = withheld.get(token)
      if (limit !== undefined) return (REASONS as readonly string[]).includes(limit) ? (limit as Reason) : 'obstacle'
      if (isIn(ruling?.leftOut, token)) return hard.length > 0 ? 'access_rule' : 'level'
      if (isIn(beyond, token)) return 'level'
      return gives ? null : 'obstacle'
    })()
    const why = {
      ...LIMITS,
      not_declared: resource === undefined ? notDeclared(token) : 'The API does not declare it.',
      access_rule:
        sayTaking(context, hard, decided.about) +
        (kind === 'machine' && required !== undefined ? ' No user signs in.' : ''),
      level: sayLevel(context, decided, on, required),
      obstacle: null,
    }
    return {
      scope: token,
      gives: reason === null,
      on_request: declarationsOf(apis, token).some(({ grantedTo }) => grantedTo === 'users-on-request'),
      reason,
      why: reason === null ? (required === undefined ? null : `It needs ${levelWord(required)}.`) : why[reason],
    }
  })
  const why =
    decision.kind === 'refused' && scopes.every(({ reason }) => reason === 'obstacle')
      ? decision.refusal.description
      : null
  const bare =
    tokens.length === 0 && ruling?.isNothing === true
      ? sayTaking(context, rulesBy.get('')?.on ?? [], decided.about)
      : null
  return { explained: { resource: resource ?? null, gives, why: why ?? bare, scopes }, rules }
}

/** The sentences about what the client itself lacks. */
const LIMITS = {
  not_approved: 'It is given only to clients that are approved for it, and this one is not.',
  not_registered: 'The client did not register it.',
  not_installed: 'The installation of the organization does not have it.',
} as const

function notDeclared(token: string): string {
  return token === 'groups' ? 'The client has no claim for groups.' : 'No API declares it.'
}

/** The level that rules and the API require of the user; undefined: any is enough. */
function requiredLevel(on: readonly RulingRule[], stepUp: ScopeStepUp | undefined): AuthenticationLevel | undefined {
  const levels = [
    ...on.flatMap(({ rule }) => rule.require?.level ?? []),
    ...(stepUp === undefined ? [] : [stepUp.level]),
  ]
  return levels.length === 0 ? undefined : (Math.max(...levels) as AuthenticationLevel)
}

function sayLevel(
  context: TaskContext,
  { reach, about }: Decided,
  on: readonly RulingRule[],
  required: AuthenticationLevel | undefined,
): string {
  const beyond = on.filter(({ rule }) => (rule.require?.level ?? 1) > reach)
  const says = beyond.length === 0 ? `It needs ${levelWord(required ?? 1)}.` : sayTaking(context, beyond, about)
  if (reach === 3) return says
  return `${says} The account has no ${required === 3 ? 'passkey' : 'second factor'} with which it could sign in now.`
}
