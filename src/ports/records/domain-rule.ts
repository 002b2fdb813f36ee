import type { EpochMs } from '../../base/brand.ts'
import type { DomainRule } from '../../protocol/client/domain-rule.ts'

/** A rule for a domain, as an operator set it. */
export interface DomainRuleRecord extends DomainRule {
  /** The operator's words for other administrators. */
  readonly note: string | undefined
  readonly changedAt: EpochMs
}
