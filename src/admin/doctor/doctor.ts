import { checkAdmin } from './admin.ts'
import { checkClients } from './clients.ts'
import { checkDelegate } from './delegate.ts'
import { checkIssuer } from './issuer.ts'
import { checkReadiness } from './readiness.ts'
import { checkRoles } from './roles.ts'
import { checkSpellings } from './spellings.ts'
import { checkStore } from './store.ts'
import type { Examination, Finding } from './finding.ts'

/** The findings about an installation, with remedies. */
export function diagnose(examination: Examination): readonly Finding[] {
  return [
    ...checkStore(examination),
    ...checkClients(examination),
    ...checkAdmin(examination),
    ...(examination.store.clients === undefined ? [] : checkRoles(examination.choices, examination.store.clients)),
    ...(examination.store.clients === undefined ? [] : checkSpellings(examination.store.clients)),
    ...checkDelegate(examination),
    ...checkReadiness(examination),
    ...checkIssuer(examination),
  ]
}
