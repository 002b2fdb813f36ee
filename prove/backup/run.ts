import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveBackup } from './campaign.ts'

/** `npm run prove:backup`. See docs/proofs.md. */

const { points, rows } = readOptions('prove:backup', {
  points: whole('kills of each command', 100, [1, 10_000]),
  rows: whole('rows of the store', 20_000, [1, 1_000_000]),
})

beginSession()
const findings = openFindings()
const { backups, stores } = await proveBackup(findings, { points, rows })
const lines = [
  `backups killed: ${points}; left: no file ${backups.missing}, a complete one ${backups.complete}`,
  `restores killed: ${points}; left: the previous store ${stores.previous}, the restored one ${stores.restored}`,
]
printReport(`SQLite, ${rows} rows`, lines, findings)
