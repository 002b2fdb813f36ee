import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { EpochMs } from '../../base/brand.ts'
import {
  BOOKKEEPING,
  compareSchema,
  digestOf,
  FIRST_TABLE,
  listMigrations,
  readScript,
  requireKnownSchema,
  type Migration,
  type SchemaState,
} from '../migrations.ts'
import { openDatabase } from './database.ts'

/**
 * Applies missing migrations and returns those that this call finished. Every transaction ends by recording its progress, so
 * that after a kill the next call continues from there. Several processes may run this at the same time.
 *
 * @throws Error if a migration was applied from another text
 */
export function migrate(
  database: DatabaseSync,
  now: number,
  migrations: readonly Migration[] = listMigrations(),
): readonly Migration[] {
  // Node.js blocks here while another process migrates. The process is starting, so nothing else is delayed.
  database.exec('pragma busy_timeout = 10000')
  const { missing } = requireKnownSchema(schemaState(database, migrations))
  if (missing.length > 0) inTransaction(database, () => BOOKKEEPING.forEach((sql) => database.exec(sql)))
  const applied = missing.filter((migration) => apply(database, migration, now))
  database.exec('pragma busy_timeout = 0')
  return applied
}

/** Returns the applied and the missing migrations. Changes nothing. */
export function schemaState(database: DatabaseSync, migrations: readonly Migration[] = listMigrations()): SchemaState {
  const find = database.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`)
  const has = (table: string): boolean => find.get(table) !== undefined
  // Read first: another process may apply the first migration, which makes the table and the record at once.
  const hasTables = has(FIRST_TABLE)
  const rows = has('migrations') ? database.prepare('select * from migrations order by version').all() : []
  const applied = rows.map((row) => ({
    version: Number(row['version']),
    name: String(row['name']),
    appliedAt: Number(row['applied_at']) as EpochMs,
    digest: row['digest'] as string | undefined,
  }))
  return compareSchema(applied, migrations, hasTables)
}

/** Returns the same for a file. Does not create the file. @throws Error if a migration was applied from another text */
export function readSqliteSchema(path: string): SchemaState {
  if (!existsSync(path)) return compareSchema([], listMigrations(), false)
  const database = openDatabase(path)
  try {
    database.exec('pragma busy_timeout = 2000')
    return requireKnownSchema(schemaState(database))
  } finally {
    database.close()
  }
}

/** Returns whether this call, not another process, finished the migration. */
function apply(database: DatabaseSync, migration: Migration, now: number): boolean {
  const { isStepwise, statements } = readScript(migration, 'sqlite')
  const done = database.prepare('select statements_done as done from migration_progress where version = ?')
  const noteProgress = database.prepare(
    `insert into migration_progress (version, statements_done) values (?, ?)
     on conflict (version) do update set statements_done = excluded.statements_done`,
  )
  for (const [index, { sql, repeats }] of isStepwise ? statements.entries() : []) {
    while (
      inTransaction(database, () => {
        const isDone = isApplied(database, migration) || Number(done.get(migration.version)?.['done'] ?? 0) > index
        if (isDone) return false
        if (repeats && database.prepare(sql).run().changes > 0) return true
        if (!repeats) database.exec(sql)
        noteProgress.run(migration.version, index + 1)
        return false
      })
    );
  }
  return inTransaction(database, () => {
    if (isApplied(database, migration)) return false
    if (!isStepwise) for (const { sql } of statements) database.exec(sql)
    database
      .prepare('insert into migrations (version, name, applied_at, digest) values (?, ?, ?, ?)')
      .run(migration.version, migration.name, now, digestOf(migration))
    database.prepare('delete from migration_progress where version = ?').run(migration.version)
    return true
  })
}

function isApplied(database: DatabaseSync, { version }: Migration): boolean {
  return database.prepare('select 1 from migrations where version = ?').get(version) !== undefined
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (cause) {
    if (database.isTransaction) database.exec('rollback')
    throw cause
  }
}
