import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { proofResultsPage } from './results.ts'
import { listClaims, rfcCoveragePage, securityCasesPage } from './titles.ts'

/** `npm run evidence` writes what tests and proofs show into a folder that git ignores: pages for the site, and none of the manual. */
const [folder = 'dist/evidence'] = process.argv.slice(2)
const claims = listClaims()
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'security-cases.md'), securityCasesPage(claims))
writeFileSync(join(folder, 'rfc-coverage.md'), rfcCoveragePage(claims))
writeFileSync(join(folder, 'proof-results.md'), proofResultsPage())
