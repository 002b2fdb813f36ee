import type { DatabaseSync } from 'node:sqlite'
import { listMigrations, type Migration } from '../migrations.ts'

/** What the schema has, and what this release would add. */
export interface SchemaState {
  readonly applied: readonly number[]
  readonly missing: readonly Migration[]
  /** Applied by a newer release than this one. */
  readonly unknown: readonly number[]
}

/** Applies what is missing, each step with its note in one transaction, so a kill leaves a whole number of steps. */
export function migrate(database: DatabaseSync, now: number): readonly Migration[] {
  // Node waits here for another process that migrates: nothing else runs yet that a busy wait could hold up.
  database.exec('pragma busy_timeout = 10000')
  database.exec(
    'create table if not exists migrations (version bigint not null primary key, name text not null, applied_at bigint not null)',
  )
  const applied: Migration[] = []
  for (const migration of listMigrations()) {
    database.exec('begin immediate')
    try {
      if (database.prepare('select 1 from migrations where version = ?').get(migration.version) === undefined) {
        database.exec(migration.sql.replaceAll(/\/\*sqlite (.+?)\*\//g, '$1'))
        database.prepare('insert into migrations values (?, ?, ?)').run(migration.version, migration.name, now)
        applied.push(migration)
      }
      database.exec('commit')
    } catch (cause) {
      database.exec('rollback')
      throw cause
    }
  }
  database.exec('pragma busy_timeout = 0')
  return applied
}

export function schemaState(database: DatabaseSync): SchemaState {
  const known = listMigrations()
  const hasTable = database.prepare(`select 1 from sqlite_master where name = 'migrations'`).get() !== undefined
  const rows = hasTable ? database.prepare('select version from migrations order by version').all() : []
  const applied = rows.map((row) => Number(row['version']))
  return {
    applied,
    missing: known.filter(({ version }) => !applied.includes(version)),
    unknown: applied.filter((version) => !known.some((migration) => migration.version === version)),
  }
}
