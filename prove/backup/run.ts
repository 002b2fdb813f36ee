import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { names, readOptions, whole } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres.ts'
import { beginSession, openFolder } from '../../tools/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveBackup } from './campaign.ts'
import { openPostgresPlace, openSqlitePlace, type Place } from './place.ts'

/** `npm run prove:backup`. See docs/proofs.md. */

const { only, points, rows } = readOptions('prove:backup', {
  only: names('the stores', ['sqlite', 'postgres'], 'all'),
  points: whole('kills of each command', 100, [1, 10_000]),
  rows: whole('rows of the store', 20_000, [1, 1_000_000]),
})

beginSession()
const findings = openFindings()
const postgres = only.includes('postgres') ? await startPostgres({ settings: { fsync: 'on' } }) : undefined
const lines: string[] = []
for (const store of only) {
  const folder = join(openFolder(), store)
  mkdirSync(folder)
  const place: Place =
    postgres === undefined || store === 'sqlite' ? openSqlitePlace(folder) : await openPostgresPlace(postgres)
  const { backups, stores } = await proveBackup(place, folder, findings, { points, rows })
  lines.push(
    store,
    `  backups killed: ${points}; left: no file ${backups.missing}, a complete one ${backups.complete}`,
    `  restores killed: ${points}; left: the previous store ${stores.previous}, one that was completed by a repeat ${stores.pending}, the restored one ${stores.restored}`,
  )
}
await postgres?.remove()
printReport(`${rows} rows`, lines, findings)
