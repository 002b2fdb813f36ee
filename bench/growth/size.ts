import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Context } from '../../src/ports/context.ts'
import { sweepRounds } from '../../src/server/background/sweep-rounds.ts'
import { IDLE_AGE_MS } from './fill.ts'

const SLICE_ROWS = 200
const HOUR_MS = 3_600_000

/** The bytes of a table or an index for each row of its table, with the free space of its pages. */
export interface RowBytes {
  readonly name: string
  readonly bytes: number
}

/** The bytes of the tables of a filled store and of their indexes. */
export async function readRowBytes(url: string): Promise<readonly RowBytes[]> {
  const tables = ['clients', 'grants', 'consents', 'authorizations']
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
    const found = tables.flatMap((table) => {
      const rows = Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n'])
      const parts = database
        .prepare(
          `select s.name, (select sum(pgsize) from dbstat where dbstat.name = s.name and aggregate = 1) as size
           from sqlite_schema as s where s.tbl_name = ? and s.rootpage > 0`,
        )
        .all(table)
      return parts.map(({ name, size }) => ({ name: String(name), bytes: Number(size) / Math.max(1, rows) }))
    })
    database.close()
    return found.filter(({ bytes }) => bytes >= 1)
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<RowBytes>(
    `select c.relname as name, pg_relation_size(c.oid)::float8 / greatest(1, t.reltuples) as bytes
     from pg_class as t join pg_class as c on c.oid = t.oid or c.oid in (select indexrelid from pg_index where indrelid = t.oid)
     where t.relname = any($1) and t.relkind = 'r' order by t.relname, c.relname`,
    [tables],
  )
  await client.end()
  return rows.filter(({ bytes }) => bytes >= 1)
}

/** A round of the sweep over a filled store, whose clock is moved so that a part of the grants has idled. */
export interface SweepRun {
  readonly rows: number
  readonly removed: number
  /** How long the round takes with its pauses. */
  readonly hours: number
  /** Processor time of a slice from which nothing is removed, and of a removed row. SQLite only: that of PostgreSQL is not in it. */
  readonly sliceMs: number
  readonly rowMicros: number
  /** The share of a core, of this round and computed for so many rows. */
  readonly share: number
  readonly shareOfHundredMillion: number
}

/** Sweeps one round. The pauses are counted, and not waited for. */
export async function measureSweep(context: Context, rows: number): Promise<SweepRun> {
  const grants = { finished: { counts: { live: rows, over: 0 }, begunAt: 0, endedAt: 0, countedMs: 0 } }
  await context.store.replaceSetting({ name: 'row-counts', value: JSON.stringify({ grants }) })
  const moved = context.clock() + IDLE_AGE_MS * 2
  const state = { virtualMs: 1, isOver: false, removed: 0 }
  const quiet = { slices: 0, ms: 0 }
  const busy = { slices: 0, ms: 0, removed: 0 }
  const { sweepGrants } = context.store
  const startedAt = process.cpuUsage()
  await sweepRounds(
    {
      settings: context.settings,
      clockCheck: { ...context.clockCheck, deletionTime: () => moved as ReturnType<Context['clock']> },
      store: {
        ...context.store,
        async sweepGrants(slice: Parameters<typeof sweepGrants>[0]) {
          const before = process.cpuUsage()
          const swept = await sweepGrants(slice)
          const { user, system } = process.cpuUsage(before)
          const kind = swept.removed === 0 ? quiet : busy
          kind.slices += 1
          kind.ms += (user + system) / 1000
          busy.removed += swept.removed
          state.isOver = swept.next === ''
          return swept
        },
      },
      monotonic: () => state.virtualMs,
      pause: async (milliseconds: number) => void (state.virtualMs += milliseconds),
    },
    () => !state.isOver,
  )
  const { user, system } = process.cpuUsage(startedAt)
  // Slices without a removed row are few where each twentieth is over: the part of the others that does not depend on it is as much.
  const again = { slices: 0, ms: 0 }
  let after = ''
  for (; again.slices < 2000; again.slices += 1) {
    const before = process.cpuUsage()
    const swept = await sweepGrants({ after, limit: SLICE_ROWS, now: context.clock(), before: context.clock() })
    const used = process.cpuUsage(before)
    again.ms += (used.user + used.system) / 1000
    after = swept.next
  }
  const sliceMs = again.ms / again.slices
  return {
    rows,
    removed: busy.removed,
    hours: state.virtualMs / HOUR_MS,
    sliceMs,
    rowMicros: (Math.max(0, busy.ms - busy.slices * sliceMs) * 1000) / Math.max(1, busy.removed),
    share: (user + system) / 1000 / state.virtualMs,
    // Grants and consents.
    shareOfHundredMillion: (((1e8 / SLICE_ROWS) * sliceMs) / (23 * HOUR_MS)) * 2,
  }
}

/** Bytes that this process has read from disks. 0 on a system without /proc. */
export function readDiskBytes(): number {
  try {
    return Number(/^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Puts a file out of the page cache. Its pages must be on the disk. Only on Linux, with GNU dd. */
export function forgetPages(path: string): void {
  dd(`if=${path}`, 'iflag=nocache', 'count=0')
}

/** Reads a file, so that the page cache has it. */
export function readPages(path: string): void {
  dd(`if=${path}`, 'of=/dev/null', 'bs=1M')
}

function dd(...operands: readonly string[]): void {
  const { status } = spawnSync('dd', [...operands, 'status=none'])
  if (status !== 0)
    throw new Error('dd of GNU coreutils, which puts a file into the page cache and out of it, is missing or failed.')
}
