import type { Input } from '../../../ports/operations/index.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { isObject, parseJson } from '../../../base/json.ts'
import { MAXIMA } from '../../../base/maxima.ts'
import { type AccessRule, type AccessRuleRecord, ruleOf, type RuleId, ruleText } from '../../../protocol/access/rule.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { OrganizationId } from '../../../protocol/ids.ts'
import { type NounOperations, when } from '../../noun.ts'
import { outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import type { Member } from '../../table.ts'
import { openUnchangedRows } from '../../unchanged-rows.ts'

const LIST = shared('select * from access_rules order by rule_id')
const COUNT = shared('select count(*) as known from access_rules')
const INSERT = shared(
  `insert into access_rules (rule_id, settings, created_at, updated_at) values (:id, :settings, :createdAt, :updatedAt)
   on conflict (rule_id) do nothing returning rule_id`,
)
const UPDATE = shared(
  `update access_rules set settings = :settings, updated_at = :updatedAt
   where rule_id = :id and settings = :previous returning rule_id`,
)
const SET_OF_ORGANIZATION = shared(
  `update organizations set access_rules = cast(:rules as text)
   where organization_id = :id and access_rules is not distinct from cast(:previous as text) returning organization_id`,
)

const operations = {
  setAccessRule: {
    keys: () => RULE_KEYS,
    cache: 'kept',
    event: when('stored', ({ rule, previous }) => aboutRule(rule, previous, undefined)),
    *run({ rule, previous }) {
      const { id, createdAt, updatedAt } = rule
      const values = { id, settings: ruleText(rule), createdAt, updatedAt }
      if (previous !== undefined) {
        const changed = yield* rows(UPDATE, { ...values, previous: ruleText(previous) })
        return changed.length === 1 ? 'stored' : 'conflict'
      }
      if (Number((yield* rows(COUNT))[0]?.['known']) >= MAXIMA.accessRules.most) return 'too-many'
      return (yield* rows(INSERT, values)).length === 1 ? 'stored' : 'id-taken'
    },
  },
  deleteAccessRule: {
    keys: () => RULE_KEYS,
    cache: 'kept',
    event: when('deleted', ({ id }) => ({ event: 'access-rule.deleted', details: { rule: id } })),
    run: outcomeOf('delete from access_rules where rule_id = :id returning rule_id', 'deleted', 'unknown'),
  },
  setOrganizationRules: {
    keys: ({ id }) => [id],
    cache: ({ id }) => organizationKey(id),
    event: (change, outcome) => (outcome === 'changed' ? aboutRules(change) : undefined),
    *run({ id, rules, previous }) {
      const values = { id, rules: textOf(rules), previous: textOf(previous) }
      return (yield* rows(SET_OF_ORGANIZATION, values)).length === 1 ? 'changed' : 'conflict'
    },
  },
} satisfies NounOperations

const readRules = openUnchangedRows(
  'rule_id',
  ({ rule_id: id, settings, created_at: createdAt, updated_at: updatedAt }) =>
    recordOf([id as RuleId, String(settings), Number(createdAt), Number(updatedAt)]),
)

const reads = {
  *listAccessRules(): Steps<readonly AccessRuleRecord[]> {
    return readRules(yield* rows(LIST))
  },
}

export const accessRules = { operations, reads }

/** All changes of rules are applied one after the other. */
const RULE_KEYS: readonly string[] = ['access-rules']

/** The rules of an organization, in its row. null: it has none. */
export const rulesOfOrganization: Member<readonly AccessRuleRecord[]> = {
  columns: [{ name: 'access_rules', type: 'text', write: textOf }],
  read: ({ access_rules: stored }) => (stored === null ? NO_RULES : readList(String(stored))),
}

const NO_RULES: readonly AccessRuleRecord[] = []

/** A rule in the list of an organization. */
type Stored = readonly [id: RuleId, settings: string, createdAt: number, updatedAt: number]

function textOf(rules: readonly AccessRuleRecord[]): string | null {
  if (rules.length === 0) return null
  return JSON.stringify(rules.map((rule): Stored => [rule.id, ruleText(rule), rule.createdAt, rule.updatedAt]))
}

/** A list or a rule that is not readable takes everything (`ruleOf`). */
function readList(text: string): readonly AccessRuleRecord[] {
  const list = parseJson(text)
  return (Array.isArray(list) ? list : [[]]).map((one: Partial<Stored>) => recordOf(one))
}

function recordOf([id = 'unreadable' as RuleId, settings = '', createdAt = 0, updatedAt = 0]: Partial<Stored>) {
  const times = { createdAt: createdAt as EpochMs, updatedAt: updatedAt as EpochMs }
  return { ...ruleOf(id, settings), ...times } satisfies AccessRuleRecord
}

function aboutRules({ id, rules, previous }: Input<'setOrganizationRules'>): readonly AuditEvent[] {
  const before = new Map(previous.map((rule) => [rule.id, rule]))
  const gone = previous.filter((rule) => !rules.some((one) => one.id === rule.id))
  const changed = rules.filter((rule) => {
    const known = before.get(rule.id)
    return known === undefined || ruleText(known) !== ruleText(rule)
  })
  return [
    ...changed.map((rule) => aboutRule(rule, before.get(rule.id), id)),
    ...gone.map((rule): AuditEvent => ({
      event: 'access-rule.deleted',
      organizationId: id,
      details: { rule: rule.id },
    })),
  ]
}

function aboutRule(
  rule: AccessRule,
  previous: AccessRule | undefined,
  organizationId: OrganizationId | undefined,
): AuditEvent {
  const event: AuditEventName = previous === undefined ? 'access-rule.created' : 'access-rule.updated'
  const changed =
    previous === undefined ? [] : PARTS.filter((part) => textOfPart(rule, part) !== textOfPart(previous, part))
  return {
    event,
    organizationId,
    details: { rule: rule.id, state: rule.state, ...(changed.length > 0 && { changed: changed.join(' ') }) },
  }
}

const PARTS = ['clients', 'access', 'people', 'require', 'state', 'sentence'] as const

function textOfPart(rule: AccessRule, part: (typeof PARTS)[number]): string {
  const stored = parseJson(ruleText(rule))
  return JSON.stringify((isObject(stored) ? stored[part] : undefined) ?? null)
}

/**
 * The cache key of an organization. A user and an organization may have one chosen id. The key of no other record begins with a space.
 */
export function organizationKey(id: OrganizationId): string {
  return ` ${id}`
}
