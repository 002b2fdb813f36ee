import * as z from 'zod'
import type { OrganizationId } from '../../protocol/ids.ts'
import { valueOf } from '../../protocol/access/judge.ts'
import { RULE_STATES, type AccessRule } from '../../protocol/access/rule.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import { findRuling, NEVER_MET, type PersonalAccess, type RulingRule } from '../../tokens/access-rules.ts'
import { ageOf, sayPeople, sayRule } from '../access-rule/terms.ts'
import type { TaskContext } from '../task.ts'
import type { PersonGroup } from './groups.ts'

/** A rule that matches the client, the access and the person. */
export const MATCHING_RULE = z
  .object({
    rule_id: z
      .string()
      .nullable()
      .describe('null: a rule of the server, which administrators of one organization do not see.'),
    organization_id: z.string().nullable().describe('The organization that has the rule; null: the server has it.'),
    reads: z.string().nullable().describe('What the rule does, as one sentence.'),
    require: z.enum(['none', '2fa', 'phr']).describe('The level at which it gives the scopes; none: it takes them.'),
    state: z.enum(RULE_STATES),
    sentence: z.string().nullable().describe('What the pages say to the person.'),
    scopes: z
      .array(z.string())
      .describe('The scopes about which it is; an empty one: an API without scopes, or a request without scope.'),
    because: z.array(z.string()).describe('Why the person is among those for whom the rule is.'),
  })
  .meta({ id: 'MatchingAccessRule' })
export type MatchingRule = z.output<typeof MATCHING_RULE>

/** What rules say about one scope at one API, for one person. */
export interface ScopeRules {
  /** Those that are on, also those whose level can be met. */
  readonly on: readonly RulingRule[]
  readonly report: readonly RulingRule[]
}

/** Finds the rules that match one scope of an access. `NEVER_MET`: also those that take nothing at a level. */
export async function rulesOfScope(context: TaskContext, access: PersonalAccess): Promise<ScopeRules> {
  const ruling = await findRuling(context, access, NEVER_MET)
  const report = (ruling?.reporting ?? []).filter((one) => !isHidden(context, one))
  return { on: ruling?.taking ?? [], report }
}

/** The rules that were found about scopes, each once, as the administrator may see them. */
export function describeRules(
  context: TaskContext,
  found: readonly (readonly [scope: string, rules: ScopeRules])[],
  about: RuleAbout,
): MatchingRule[] {
  const pairs = found.flatMap(([scope, { on, report }]) => [...on, ...report].map((one) => [one, scope] as const))
  const byRule = Map.groupBy(pairs, ([{ rule }]) => rule)
  return [...byRule.values()].flatMap((own): readonly MatchingRule[] => {
    const [first] = own
    if (first === undefined) return []
    const [one] = first
    const { rule, isOfServer } = one
    const scopes = [...new Set(own.map(([, scope]) => scope))]
    const level = rule.require === undefined ? ('none' as const) : levelWord(rule.require.level)
    const hidden = { rule_id: null, organization_id: null, reads: null, require: level, sentence: null, because: [] }
    if (isHidden(context, one)) return [{ ...hidden, state: rule.state, scopes }]
    return [
      {
        rule_id: rule.id,
        organization_id: isOfServer ? null : (about.organizationId ?? null),
        reads: sayRule(rule),
        require: level,
        state: rule.state,
        sentence: rule.sentence ?? null,
        scopes,
        because: [...reasonsFor(rule, about)],
      },
    ]
  })
}

/** What is known of the person, besides the rules. */
export interface RuleAbout {
  readonly organizationId: OrganizationId | undefined
  readonly groups: readonly PersonGroup[]
}

/** Why rules take a scope, as one sentence. */
export function sayTaking(context: TaskContext, taking: readonly RulingRule[], about: RuleAbout): string {
  return taking
    .map((one) => {
      if (isHidden(context, one)) return 'A rule of the server takes it.'
      const { id, people, require } = one.rule
      const who = sayPeople(people)
      const does =
        require === undefined
          ? `takes it from ${who}.`
          : `needs ${levelWord(require.level)}${ageOf(require.maxAge)}, for ${who}.`
      return [`Rule ${id} ${does}`, ...reasonsFor(one.rule, about)].join(' ')
    })
    .join(' ')
}

/** The groups that put the person among those of a rule, or that would have left the person out. */
function reasonsFor({ people }: AccessRule, { groups }: RuleAbout): readonly string[] {
  const of = (term: string): readonly PersonGroup[] =>
    term.startsWith('group:') ? groups.filter(({ group_id: id }) => id === valueOf(term)) : []
  return [
    ...people.only.flatMap((term) => of(term).filter(({ counts }) => counts)),
    ...people.except.flatMap((term) => of(term).filter(({ counts }) => !counts)),
  ].map(sayGroup)
}

/** That a person is or was in a group, as one sentence. */
function sayGroup({ group_id: id, source: by, expires_at: end, ended_at: removed, counts }: PersonGroup): string {
  if (counts) return `The user is in ${id} (${by}${end === null ? '' : `, until ${end}`}).`
  if (removed !== null) return `The user was removed from ${id} (${by}) at ${removed}.`
  return `The user was in ${id} (${by})${end === null ? ', which no longer counts' : ` until ${end}`}.`
}

function isHidden({ administrator }: TaskContext, { isOfServer }: RulingRule): boolean {
  return isOfServer && administrator.organizationId !== undefined
}
