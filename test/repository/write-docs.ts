import { writeFileSync } from 'node:fs'
import { ADMINISTRATION_PAGE, administrationPage } from '../http/admin/routes-document.ts'
import { ARCHITECTURE_PAGE, architecturePage } from './layout.ts'
import { listClaims, rfcCoveragePage, securityCasesPage } from './titles.ts'

/** Writes the pages and tables that `npm run docs` generates from test titles, the table of tasks and the rules of the layout. */
const claims = listClaims()
writeFileSync('docs/security-cases.md', securityCasesPage(claims))
writeFileSync('docs/rfc-coverage.md', rfcCoveragePage(claims))
writeFileSync(ADMINISTRATION_PAGE, administrationPage())
writeFileSync(ARCHITECTURE_PAGE, architecturePage())
