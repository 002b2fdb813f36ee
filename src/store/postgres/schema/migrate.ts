import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { EpochMs } from '../../../base/brand.ts'
import {
  BOOKKEEPING,
  compareSchema,
  digestOf,
  FIRST_TABLE,
  listMigrations,
  readScript,
  requireKnownSchema,
  type AppliedMigration,
  type Migration,
  type SchemaState,
  type Statement,
} from '../../migrations.ts'
import { LEASE_TABLE, takeLease, type Connection, type Lease } from './migration-lease.ts'

export interface MigrationTiming {
  /** After this time another node takes over from a node that died. */
  readonly leaseMs: number
  readonly pollMs: number
  /** How long to wait for another node's migration, and for each lock. */
  readonly patienceMs: number
  /** Requests queue behind a waiting lock. Waiting is therefore given up after this time and repeated later. */
  readonly lockTimeoutMs: number
}

const TIMING: MigrationTiming = { leaseMs: 30_000, pollMs: 250, patienceMs: 300_000, lockTimeoutMs: 500 }

/** Lock not available, deadlock, conflict: a retry may succeed. */
export const CONTENTION: readonly string[] = ['55P03', '40P01', '40001']
/** What `create … if not exists` throws if another session creates the same object at the same time. */
const CREATED_AT_ONCE = ['23505', '42P07', '42710']

/**
 * Applies missing migrations and returns those that this call finished. Of several nodes one holds the lease; the others
 * wait for it. After a kill at any statement the next call continues from there.
 *
 * @throws Error if a migration was applied from another text
 */
export async function migratePostgres(
  connection: Connection,
  now: number,
  migrations: readonly Migration[] = listMigrations(),
  timing: MigrationTiming = TIMING,
): Promise<readonly Migration[]> {
  if (requireKnownSchema(await schemaState(connection, migrations)).missing.length === 0) return []
  await connection.query(`set lock_timeout = ${timing.lockTimeoutMs}`)
  await connection.query('set statement_timeout = 0')
  try {
    await persist(timing, [...CONTENTION, ...CREATED_AT_ONCE], async () => {
      for (const sql of [...BOOKKEEPING, LEASE_TABLE]) await connection.query(sql)
    })
    const lease = await waitForLease(connection, migrations, timing)
    return lease === undefined ? [] : await applyMissing({ connection, lease, timing }, migrations, now)
  } finally {
    // On a broken connection there is nothing to reset.
    await connection.query('reset lock_timeout').catch(() => undefined)
    await connection.query('reset statement_timeout').catch(() => undefined)
  }
}

/** Returns the applied and the missing migrations. Changes nothing. */
export async function schemaState(
  connection: Connection,
  migrations: readonly Migration[] = listMigrations(),
): Promise<SchemaState> {
  const has = async (table: string): Promise<boolean> =>
    (await connection.query('select 1 where to_regclass($1) is not null', [table])).rowCount !== 0
  // Read first: another node may apply the first migration, which makes the table and the record at once.
  const hasTables = await has(FIRST_TABLE)
  const { rows } = (await has('migrations'))
    ? await connection.query<AppliedRow>('select * from migrations order by version')
    : { rows: [] }
  return compareSchema(rows.map(appliedOf), migrations, hasTables)
}

interface AppliedRow {
  readonly version: string | number
  readonly name: string
  readonly applied_at: string | number
  readonly digest?: string
}

function appliedOf({ version, name, applied_at: appliedAt, digest }: AppliedRow): AppliedMigration {
  return { version: Number(version), name, appliedAt: Number(appliedAt) as EpochMs, digest }
}

/** undefined: another node has applied everything meanwhile. */
async function waitForLease(
  connection: Connection,
  migrations: readonly Migration[],
  timing: MigrationTiming,
): Promise<Lease | undefined> {
  const deadline = performance.now() + timing.patienceMs
  for (;;) {
    const lease = await persist(timing, CONTENTION, () => takeLease(connection, timing.leaseMs))
    if (lease !== undefined) return lease
    if ((await schemaState(connection, migrations)).missing.length === 0) return undefined
    if (performance.now() > deadline) {
      throw new Error(
        `Another node has been migrating the database for more than ${timing.patienceMs / 1000} s. Wait until "grantor migrate status" says that it is up to date, and start again.`,
      )
    }
    await delay(timing.pollMs)
  }
}

interface Runner {
  readonly connection: Connection
  readonly lease: Lease
  readonly timing: MigrationTiming
}

async function applyMissing(
  runner: Runner,
  migrations: readonly Migration[],
  now: number,
): Promise<readonly Migration[]> {
  try {
    const { missing } = requireKnownSchema(await schemaState(runner.connection, migrations))
    for (const migration of missing) await apply(runner, migration, now)
    return missing
  } finally {
    // On a broken connection the lease cannot be released; it expires.
    await runner.lease.release().catch(() => undefined)
  }
}

async function apply(runner: Runner, migration: Migration, now: number): Promise<void> {
  const { connection } = runner
  const { version, name } = migration
  const { isStepwise, statements } = readScript(migration, 'postgres')
  if (isStepwise) await applyStepwise(runner, migration, statements)
  await inTransaction(runner, async () => {
    if (!isStepwise) for (const { sql } of statements) await connection.query(sql)
    await connection.query('insert into migrations (version, name, applied_at, digest) values ($1, $2, $3, $4)', [
      version,
      name,
      now,
      digestOf(migration),
    ])
    await connection.query('delete from migration_progress where version = $1', [version])
  })
}

async function applyStepwise(
  { connection, lease, timing }: Runner,
  { version }: Migration,
  statements: readonly Statement[],
): Promise<void> {
  const { rows } = await connection.query<{ readonly done: string | number }>(
    'select statements_done as done from migration_progress where version = $1',
    [version],
  )
  for (let index = Number(rows[0]?.done ?? 0); index < statements.length;) {
    const statement = statements[index] as Statement
    const changed = await persist(timing, CONTENTION, async () => {
      await lease.renew()
      return runAlone(connection, statement.sql, timing)
    })
    if (statement.repeats && changed > 0) continue
    index += 1
    await connection.query(
      `insert into migration_progress as progress (version, statements_done) values ($1, $2)
       on conflict (version) do update set statements_done = excluded.statements_done`,
      [version, index],
    )
  }
}

/** Returns the number of changed rows. */
async function runAlone(connection: Connection, sql: string, { lockTimeoutMs }: MigrationTiming): Promise<number> {
  // A concurrent statement waits for all older transactions, but no other session waits for it.
  const waitMs = /\bconcurrently\b/i.test(sql) ? 0 : lockTimeoutMs
  await connection.query(`set lock_timeout = ${waitMs}`)
  const index = /^create (?:unique )?index concurrently if not exists (\w+)/i.exec(sql)?.[1]
  if (index !== undefined) await dropInvalidIndex(connection, index)
  return (await connection.query(sql)).rowCount ?? 0
}

/** A killed `create index concurrently` leaves an unusable index with the name of the intended one. */
async function dropInvalidIndex(connection: Connection, name: string): Promise<void> {
  const { rowCount } = await connection.query(
    'select 1 from pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [name],
  )
  if (rowCount === 1) await connection.query(`drop index concurrently if exists ${name}`)
}

function inTransaction({ connection, lease, timing }: Runner, work: () => Promise<void>): Promise<void> {
  return persist(timing, CONTENTION, async () => {
    await connection.query('begin')
    try {
      await connection.query(`set local lock_timeout = ${timing.lockTimeoutMs}`)
      await lease.renew()
      await work()
      await connection.query('commit')
    } catch (cause) {
      await connection.query('rollback').catch(() => undefined)
      throw cause
    }
  })
}

/** Repeats while other sessions are in the way. In the pauses the running release continues its work. */
async function persist<T>(timing: MigrationTiming, codes: readonly string[], attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timing.patienceMs
  for (;;) {
    try {
      return await attempt()
    } catch (cause) {
      if (!(cause instanceof pg.DatabaseError) || !codes.includes(cause.code ?? '')) throw cause
      if (performance.now() > deadline) {
        throw new Error(
          `The migration of the database could not get its locks for ${timing.patienceMs / 1000} s: ${cause.message}. Find the long transaction in pg_stat_activity, and start again.`,
          { cause },
        )
      }
    }
    await delay(timing.pollMs * (1 + Math.random()))
  }
}
