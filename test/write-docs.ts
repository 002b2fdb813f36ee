import { writeFileSync } from 'node:fs'
import { listClaims, rfcCoveragePage, securityCasesPage } from './titles.ts'

/** The part of `npm run docs` that is made from the titles of the tests. */
const claims = listClaims()
writeFileSync('docs/security-cases.md', securityCasesPage(claims))
writeFileSync('docs/rfc-coverage.md', rfcCoveragePage(claims))
