import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { names, readOptions, whole } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveBackup } from './campaign.ts'
import { proveMove, type MoveTally } from './move.ts'
import { openPostgresPlace, openSqlitePlace, type Place } from './place.ts'

/** Backups, restores and moves that are killed at 400 points leave a whole store. See docs/proofs.md. */

const { only, points, rows, moves, seed } = readOptions({
  only: names('the stores', ['sqlite', 'postgres'], 'all'),
  points: whole('kills of each command', 100, [1, 10_000]),
  rows: whole('rows of the store', 20_000, [1, 1_000_000]),
  moves: whole('kills of a final export, and of an import', 2, [0, 1000]),
  seed: whole('the times of these kills follow from it', 1, [0, 2 ** 32 - 1]),
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
  const movedAt = performance.now()
  const { acknowledged, sources, targets } = await moveAway(store, folder)
  const seconds = ((performance.now() - movedAt) / 1000).toFixed(0)
  lines.push(
    store,
    `  backups killed: ${points}; left: no file ${backups.missing}, a complete one ${backups.complete}`,
    `  restores killed: ${points}; left: the previous store ${stores.previous}, one that was completed by a repeat ${stores.pending}, the restored one ${stores.restored}`,
    `  final exports killed under a server: ${moves}; left: an open store ${sources.open}, a closed one ${sources.closed}`,
    `  imports killed: ${moves}; left: an incomplete store ${targets.incomplete}, a complete one ${targets.complete}`,
    `  clients acknowledged meanwhile: ${acknowledged}; seed ${seed}, ${seconds} s`,
  )
}
await postgres?.remove()
printReport(`${rows} rows`, lines, findings)

/** Each move starts in a place of its own, and ends in an empty one of the same kind. */
async function moveAway(store: (typeof only)[number], folder: string): Promise<MoveTally> {
  let made = 0
  async function openEmpty(): Promise<Place> {
    if (postgres !== undefined && store === 'postgres') return openPostgresPlace(postgres)
    const own = join(folder, `moved-${(made += 1)}`)
    mkdirSync(own)
    return openSqlitePlace(own)
  }
  return proveMove(await openEmpty(), openEmpty, folder, findings, { rounds: moves, seed })
}
