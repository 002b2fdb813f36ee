import type { AccessRuleRecord } from '../../protocol/access/rule.ts'

/** The reads of access rules. */
export interface AccessRuleReads {
  /** Those of the server, ordered by id. While none changes, the list has the same records. */
  readonly listAccessRules: () => Promise<readonly AccessRuleRecord[]>
}
