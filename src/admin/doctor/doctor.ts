import { checkAdmin } from './admin.ts'
import { checkIssuer } from './issuer.ts'
import { checkStore } from './store.ts'
import type { Examination, Finding } from './finding.ts'

/** What is right and wrong with an installation, and how to mend it. */
export function diagnose(examination: Examination): readonly Finding[] {
  return [...checkStore(examination), ...checkAdmin(examination), ...checkIssuer(examination)]
}
