import { writeFileSync } from 'node:fs'
import { ADMINISTRATION_PAGE, administrationPage } from './http/admin/routes-document.ts'
import { listClaims, rfcCoveragePage, securityCasesPage } from './titles.ts'

/** The part of `npm run docs` that is made from the titles of the tests, and from the table of tasks. */
const claims = listClaims()
writeFileSync('docs/security-cases.md', securityCasesPage(claims))
writeFileSync('docs/rfc-coverage.md', rfcCoveragePage(claims))
writeFileSync(ADMINISTRATION_PAGE, administrationPage())
