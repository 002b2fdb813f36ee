import { checkAdmin } from './admin.ts'
import { checkIssuer } from './issuer.ts'
import { checkStore } from './store.ts'
import type { Examination, Finding } from './finding.ts'

/** The findings about an installation, with remedies. */
export function diagnose(examination: Examination): readonly Finding[] {
  return [...checkStore(examination), ...checkAdmin(examination), ...checkIssuer(examination)]
}
