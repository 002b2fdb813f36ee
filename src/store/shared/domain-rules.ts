import type { DomainRuleRecord } from '../../ports/records/domain-rule.ts'
import { DOMAIN_RULES } from '../tables/client.ts'
import { outcome, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const LIST = shared('select * from domain_rules order by pattern')
const SET = shared(
  `insert into domain_rules (${DOMAIN_RULES.names}) values (${DOMAIN_RULES.parameters})
   on conflict (pattern) do update set verdict = excluded.verdict, note = excluded.note, changed_at = excluded.changed_at`,
)

export const domainRuleHandlers = {
  setDomainRule: {
    keys: ({ pattern }) => [`domain:${pattern}`],
    *run(rule) {
      yield* rows(SET, DOMAIN_RULES.values(rule))
      return 'stored'
    },
  },
  removeDomainRule: {
    keys: (pattern) => [`domain:${pattern}`],
    run: outcome('delete from domain_rules where pattern = :id returning pattern', 'removed', 'unknown'),
  },
} satisfies SharedHandlers

export const domainRuleReads = {
  *listDomainRules(): Steps<readonly DomainRuleRecord[]> {
    return (yield* rows(LIST)).map(DOMAIN_RULES.read)
  },
}
