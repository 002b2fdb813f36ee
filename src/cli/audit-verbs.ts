import { addAuditList } from './audit-list.ts'
import { addAuditVerify } from './audit-verify.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor audit`. */
export const AUDIT_VERBS: readonly AddVerb[] = [addAuditList, addAuditVerify]
