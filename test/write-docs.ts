import { writeFileSync } from 'node:fs'
import { ADMINISTRATION_PAGE, administrationPage } from './http/admin/routes-document.ts'
import { ARCHITECTURE_PAGE, architecturePage } from './layout.ts'
import { listClaims, rfcCoveragePage, securityCasesPage } from './titles.ts'

/** The pages and tables that `npm run docs` makes from test titles, from the table of tasks and from the layout's rules. */
const claims = listClaims()
writeFileSync('docs/security-cases.md', securityCasesPage(claims))
writeFileSync('docs/rfc-coverage.md', rfcCoveragePage(claims))
writeFileSync(ADMINISTRATION_PAGE, administrationPage())
writeFileSync(ARCHITECTURE_PAGE, architecturePage())
