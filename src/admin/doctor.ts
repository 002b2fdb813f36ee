import { judgeAdmin } from './doctor-admin.ts'
import { judgeIssuer } from './doctor-issuer.ts'
import { judgeStore } from './doctor-store.ts'
import type { Examination, Finding } from './finding.ts'

/** What is right and wrong with an installation, and how to mend it. */
export function diagnose(examination: Examination): readonly Finding[] {
  return [...judgeStore(examination), ...judgeAdmin(examination), ...judgeIssuer(examination)]
}
