import { createHash } from 'node:crypto'
import type { EpochMs } from '../base/brand.ts'
import { readMigrationFiles } from './migration-files.ts'

/** One step of the schema, for every store (docs/migrations.md). */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** A migration's statements for one database. */
export interface Script {
  /**
   * Not in one transaction: the progress is stored statement by statement, and each statement may run a second time after a
   * kill.
   */
  readonly isStepwise: boolean
  readonly statements: readonly Statement[]
}

export interface Statement {
  readonly sql: string
  /** A backfill, which is repeated until it changes no row. */
  readonly repeats: boolean
}

/** The record of an applied migration. */
export interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly appliedAt: EpochMs
  /** `digestOf` the migration that was applied. undefined: its version of Grantor stored none. */
  readonly digest: string | undefined
}

/** The migrations that a database has, and those that this release would add. */
export interface SchemaState {
  readonly applied: readonly AppliedMigration[]
  readonly missing: readonly Migration[]
  /** Applied migrations that this release does not know: a newer one added them. */
  readonly unknown: readonly AppliedMigration[]
  /** Migrations that were applied from another text than that of this release. */
  readonly changed: readonly AppliedMigration[]
  /** The database has tables, and no record of a migration that made them. */
  readonly isUnrecorded: boolean
}

const STEPWISE = '-- each statement by itself\n'
const REPEAT = /^-- repeat until no row changes$/gm
const REPEAT_MARK = '/*repeat*/'

/** The runner's own tables: which migrations were applied, and how far a stepwise one has got. */
export const BOOKKEEPING = [
  'create table if not exists migrations (version bigint not null primary key, name text not null, applied_at bigint not null, digest text not null)',
  'create table if not exists migration_progress (version bigint not null primary key, statements_done bigint not null)',
] as const

/** The numbered SQL files in the folder beside this file. */
export function listMigrations(): readonly Migration[] {
  return readMigrationFiles()
    .filter(({ name }) => /^\d{4}-.+\.sql$/.test(name))
    .map(({ name, sql }) => ({ version: Number.parseInt(name.slice(0, 4), 10), name: name.slice(5, -4), sql }))
    .toSorted((one, other) => one.version - other.version)
}

/**
 * Returns the statements for one database. Comments marked with its dialect become statements; all other comments are
 * removed.
 */
export function readScript({ version, sql }: Migration, dialect: 'sqlite' | 'postgres'): Script {
  const isStepwise = sql.startsWith(STEPWISE)
  const statements = sql
    .replaceAll(/\/\*(\w*)\s([\s\S]*?)\*\//g, (_, name: string, text: string) => (name === dialect ? text : ''))
    .replaceAll(REPEAT, REPEAT_MARK)
    .replaceAll(/--.*$/gm, '')
    .split(/;\s*$/m)
    .map((text) => ({ sql: text.replace(REPEAT_MARK, '').trim(), repeats: text.includes(REPEAT_MARK) }))
    .filter((statement) => statement.sql !== '')
  if (!isStepwise && statements.some(({ repeats }) => repeats)) {
    throw new Error(`Migration ${version} repeats a statement, so its first line must be: ${STEPWISE.trim()}`)
  }
  return { isStepwise, statements }
}

/** Compares the applied migrations with those of this release. `hasTables`: whether the database has tables of the first one. */
export function compareSchema(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
  hasTables: boolean,
): SchemaState {
  const [has, knows] = [applied, known].map((list) => new Set(list.map(({ version }) => version)))
  return {
    applied,
    missing: known.filter(({ version }) => has?.has(version) === false),
    unknown: applied.filter(({ version }) => knows?.has(version) === false),
    changed: applied.filter(({ version, digest }) => {
      const own = known.find((migration) => migration.version === version)
      return own !== undefined && digestOf(own) !== digest
    }),
    isUnrecorded: hasTables && applied.length === 0,
  }
}

/** A digest of the statements of a migration for both databases. Comments and empty lines do not change it. */
export function digestOf(migration: Migration): string {
  const known = knownDigests.get(migration.sql)
  if (known !== undefined) return known
  const statements = (['sqlite', 'postgres'] as const).map((dialect) => readScript(migration, dialect))
  const digest = createHash('sha256').update(JSON.stringify(statements)).digest('hex')
  knownDigests.set(migration.sql, digest)
  return digest
}

/** By the text of the migration: each opening of a store compares them, and reading a script takes longer than the rest of that. */
const knownDigests = new Map<string, string>()

/** A digest of the texts from which a schema was made, for a backup. `digests`: of its migrations, in their order. */
export function schemaDigest(digests: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(digests)).digest('hex')
}

/** The table by which a database with a schema is recognized. The first migration makes it with all others. */
export const FIRST_TABLE = 'settings'

/** Why a database with `changed` migrations is refused, and what to do. */
const CHANGED_SCHEMA =
  'The tables of the database were made by a version of Grantor with another 0001-start.sql, which changes until the release 0.1.0. Start the version that made them, or begin with a new database. To move the store, run "export" of the version that made them and "import grantor" of this one into a new database: tables that fit are taken, and otherwise the import is refused, and nothing changes.'

const UNRECORDED_SCHEMA =
  'The database has tables of Grantor, but its table "migrations" is empty, so it does not say which version made them. Nothing was changed. Restore a backup into a new database, or put back the rows of "migrations".'

/** Why a database with this schema is refused, and what to do. undefined: it is not. */
export function findSchemaFault({ changed, isUnrecorded }: SchemaState): string | undefined {
  if (isUnrecorded) return UNRECORDED_SCHEMA
  return changed.length > 0 ? CHANGED_SCHEMA : undefined
}

/** @throws Error if the schema was made from other texts, or from texts that are not recorded */
export function requireKnownSchema(state: SchemaState): SchemaState {
  const fault = findSchemaFault(state)
  if (fault !== undefined) throw new Error(fault)
  return state
}
