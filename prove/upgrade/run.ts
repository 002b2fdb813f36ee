import { join, resolve } from 'node:path'
import { packPackage } from '../../release/build.ts'
import { names, readOptions } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { upgrade } from './campaign.ts'
import { installRelease, RIGHT, WRONGS } from './releases.ts'

/**
 * From the packed package to a next release and back: what clients hold works at each step. Migrations that a release must not have are found.
 * See docs/proofs.md.
 */

const { only } = readOptions({ only: names('the stores', ['sqlite', 'postgres'], 'all') })
beginSession()
const findings = openFindings()
const folder = openFolder()
const release = installRelease(join(folder, 'release'), resolve(await packPackage()))
const lines: string[] = []
for (const store of only) {
  const postgres = store === 'postgres' ? await startPostgres({}) : undefined
  let count = 0
  const run = async (change: (start: string) => typeof RIGHT) => {
    count += 1
    const place = join(folder, `${store}-${count}`)
    const database = (await postgres?.createDatabase())?.url ?? `sqlite:${join(place, 'grantor.db')}`
    return upgrade({ folder: place, release, change, database, sideBySide: postgres !== undefined })
  }
  findings.progress(`${store}: expand and backfill`)
  const { faults, acknowledged, unavailable } = await run(() => RIGHT)
  for (const fault of faults) findings.report(`${store}: ${fault}`)
  lines.push(`${store}: ${acknowledged} registrations beside the migration, and ${unavailable} answers of 503`)
  let found = 0
  for (const [name, wrong] of Object.entries(WRONGS)) {
    findings.progress(`${store}: ${name}`)
    const said = (await run(wrong.change)).faults.join('\n')
    if (wrong.found.test(said)) found += 1
    else findings.report(`${store}: ${name} was not found: ${said}`)
  }
  lines.push(`${store}: ${found} of ${Object.keys(WRONGS).length} planted wrongs found`)
  await postgres?.remove()
}
printReport('the packed package, a planted second and third migration, back and forward', lines, findings)
