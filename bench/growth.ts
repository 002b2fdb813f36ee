import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openWorkshop, type Workshop } from '../src/build.ts'
import { readConfig } from '../src/config.ts'
import { benchFolderPrefix } from './bench-folder.ts'
import { startDatabase } from './database.ts'
import { fillPostgres, fillSqlite } from './growth-fill.ts'
import { growthOperations } from './growth-operations.ts'
import { renderTable } from './table.ts'

/**
 * `npm run bench:growth -- --sizes 10000,1000000,5000000 --store sqlite`: what an operation of the store costs when there are so
 * many clients, families and spent codes, each picked at random. Through the store itself, 64 at a time, every commit synced.
 */

interface Cost {
  readonly operation: string
  readonly rows: number
  readonly wallMicros: number
  /** Of this process: all of SQLite's, none of PostgreSQL's. */
  readonly cpuMicros: number
  /** Written by an operation: to PostgreSQL's log, or with SQLite to its log and file. undefined: cannot be known here. */
  readonly bytes: number | undefined
}

const AT_ONCE = 64
const SECRET = randomBytes(32).toString('base64url')
const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,1000000' },
    store: { type: 'string', default: 'sqlite' },
    operations: { type: 'string', default: '20000' },
    json: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const folder = mkdtempSync(benchFolderPrefix())
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const costs: Cost[] = []
const database = values.store === 'postgres' ? await startDatabase(undefined) : undefined
try {
  for (const rows of sizes) costs.push(...(await measureSize(rows)))
} finally {
  await database?.close()
}
if (values.json) console.log(JSON.stringify(costs, undefined, 2))
else console.log(render(costs))

async function measureSize(rows: number): Promise<readonly Cost[]> {
  const fill = { rows, now: Date.now() }
  const path = join(folder, `${rows}.db`)
  const url = database === undefined ? `sqlite:${path}` : (await database.open()).url
  const startedAt = performance.now()
  await (await openStore(url)).close()
  if (database === undefined) fillSqlite(path, fill)
  else await fillPostgres(url, fill)
  const workshop = await openStore(url)
  try {
    console.error(`${rows} rows of each kind in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    const operations = growthOperations(workshop.context, fill)
    const found: Cost[] = []
    for (const [operation, run] of Object.entries(operations)) {
      // What the store reads for the first time is read now.
      await repeat(run, Number(values.operations) / 4)
      const bytesBefore = await bytesWritten(url)
      const cpu = process.cpuUsage()
      const before = performance.now()
      const count = await repeat(run, Number(values.operations))
      const elapsedMs = performance.now() - before
      const { user, system } = process.cpuUsage(cpu)
      const bytesAfter = await bytesWritten(url)
      found.push({
        operation,
        rows,
        wallMicros: (elapsedMs * 1000) / count,
        cpuMicros: (user + system) / count,
        bytes: bytesBefore === undefined || bytesAfter === undefined ? undefined : (bytesAfter - bytesBefore) / count,
      })
    }
    return found
  } finally {
    await workshop.close()
    rmSync(path, { force: true })
  }
}

function openStore(url: string): Promise<Workshop> {
  const config = readConfig({ DATABASE_URL: url, GRANTOR_SECRET: SECRET, LOG_LEVEL: 'silent' })
  return openWorkshop(config, undefined, 'server')
}

async function repeat(run: () => Promise<void>, times: number): Promise<number> {
  let left = times
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1
        await run()
      }
    }),
  )
  return times
}

async function bytesWritten(url: string): Promise<number | undefined> {
  if (database === undefined) {
    const found = /^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))
    return found === null ? undefined : Number(found[1])
  }
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  const { rows } = await connection.query<{ bytes: string }>("select pg_current_wal_lsn() - '0/0' as bytes")
  await connection.end()
  return Number(rows[0]?.bytes)
}

function render(all: readonly Cost[]): string {
  const [smallest] = sizes
  const rows = all.map(({ operation, rows: size, wallMicros, cpuMicros, bytes }) => {
    const base = all.find((one) => one.operation === operation && one.rows === smallest)
    const factor = base === undefined ? Number.NaN : wallMicros / base.wallMicros
    const cells = [
      String(size),
      wallMicros.toFixed(1),
      cpuMicros.toFixed(1),
      bytes?.toFixed(0) ?? '–',
      factor.toFixed(2),
    ]
    return [operation, ...cells]
  })
  return renderTable(['operation', 'rows', 'µs', 'CPU µs', 'bytes written', 'to the smallest'], rows)
}
