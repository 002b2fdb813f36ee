import { checkAccess } from '../checks/access.ts'
import { checkAdmin } from '../checks/admin.ts'
import { checkClients } from '../checks/clients.ts'
import { checkDelegate } from '../checks/delegate.ts'
import { checkGroups } from '../checks/groups.ts'
import { checkIssuer } from '../checks/issuer.ts'
import { checkReadiness } from '../checks/readiness.ts'
import { checkRoles } from '../checks/roles.ts'
import { checkSpellings } from '../checks/spellings.ts'
import { checkStore } from '../checks/store.ts'
import { checkTexts } from '../checks/texts.ts'
import type { Examination, Finding } from '../checks/finding.ts'

/** The findings about an installation, with remedies. */
export function diagnose(examination: Examination): readonly Finding[] {
  return [
    ...checkStore(examination),
    ...checkClients(examination),
    ...checkGroups(examination),
    ...checkAdmin(examination),
    ...(examination.store.clients === undefined ? [] : checkRoles(examination.choices, examination.store.clients)),
    ...(examination.store.clients === undefined ? [] : checkSpellings(examination.store.clients)),
    ...(examination.store.clients === undefined ? [] : checkTexts(examination.store.clients)),
    ...(examination.store.clients === undefined ? [] : checkAccess(examination.store.clients, examination.now)),
    ...checkDelegate(examination),
    ...checkReadiness(examination),
    ...checkIssuer(examination),
  ]
}
