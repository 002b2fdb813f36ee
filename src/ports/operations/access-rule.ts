import type { OrganizationId } from '../../protocol/ids.ts'
import type { AccessRule, AccessRuleRecord, RuleId } from '../../protocol/access/rule.ts'

/** The operations on access rules, each as `[input, outcome]`. The rules of index.ts apply. */
export interface AccessRuleOperations {
  /**
   * Creates a rule of the server; with `previous`, replaces it if it is still as `previous` has it. `too-many`: the server has the most rules.
   */
  setAccessRule: [
    change: { readonly rule: AccessRuleRecord; readonly previous: AccessRule | undefined },
    outcome: 'stored' | 'id-taken' | 'conflict' | 'too-many',
  ]
  deleteAccessRule: [deletion: { readonly id: RuleId }, outcome: 'deleted' | 'unknown']
  /** Replaces the rules of an organization, if they are still as `previous` has them. */
  setOrganizationRules: [
    change: {
      readonly id: OrganizationId
      readonly rules: readonly AccessRuleRecord[]
      readonly previous: readonly AccessRuleRecord[]
    },
    outcome: 'changed' | 'conflict',
  ]
}
