import type { DomainRuleRecord } from '../../../ports/records/domain-rule.ts'
import { type NounOperations, when } from '../../noun.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text, assignments, isUnchanged, previousValues, without } from '../../table.ts'

const DOMAIN_RULES = table<DomainRuleRecord>({
  pattern: text('pattern'),
  verdict: text('verdict'),
  note: text('note'),
  changedAt: bigint('changed_at'),
})

const RULE = without(DOMAIN_RULES, 'pattern')
const LIST = shared('select * from domain_rules order by pattern')
const SET = shared(
  `insert into domain_rules (${DOMAIN_RULES.names}) values (${DOMAIN_RULES.parameters})
   on conflict (pattern) do update set verdict = excluded.verdict, note = excluded.note, changed_at = excluded.changed_at`,
)
const ADD = shared(
  `insert into domain_rules (${DOMAIN_RULES.names}) values (${DOMAIN_RULES.parameters})
   on conflict (pattern) do nothing returning pattern`,
)
const REPLACE = shared(
  `update domain_rules set ${assignments(RULE)} where pattern = :pattern and ${isUnchanged(RULE)} returning pattern`,
)
const REMOVE = shared('delete from domain_rules where pattern = :pattern returning pattern')
const REMOVE_UNCHANGED = shared(
  `delete from domain_rules where pattern = :pattern and ${isUnchanged(RULE)} returning pattern`,
)

const operations = {
  setDomainRule: {
    keys: ({ pattern }) => [`domain:${pattern}`],
    cache: 'kept',
    event: when('stored', ({ pattern, verdict }) => ({
      event: verdict === 'trusted' ? 'domain.trusted' : 'domain.blocked',
      details: { pattern },
    })),
    *run({ previous, ...rule }) {
      const values = DOMAIN_RULES.values(rule)
      if (previous === undefined) {
        yield* rows(SET, values)
        return 'stored'
      }
      const stored = yield* previous === null
        ? rows(ADD, values)
        : rows(REPLACE, { ...values, ...previousValues(RULE, previous) })
      return stored.length === 1 ? 'stored' : 'conflict'
    },
  },
  removeDomainRule: {
    keys: ({ pattern }) => [`domain:${pattern}`],
    cache: 'kept',
    event: when('removed', ({ pattern }) => ({ event: 'domain.forgotten', details: { pattern } })),
    *run({ pattern, previous }) {
      if (previous === undefined) return (yield* rows(REMOVE, { pattern })).length === 1 ? 'removed' : 'unknown'
      const removed = yield* rows(REMOVE_UNCHANGED, { pattern, ...previousValues(RULE, previous) })
      return removed.length === 1 ? 'removed' : 'conflict'
    },
  },
} satisfies NounOperations

const reads = {
  *listDomainRules(): Steps<readonly DomainRuleRecord[]> {
    return (yield* rows(LIST)).map(DOMAIN_RULES.read)
  },
}

export const domainRules = { operations, reads }
