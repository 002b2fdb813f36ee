import { readdirSync, readFileSync } from 'node:fs'

/** A file of src/store/migrations/. */
export interface MigrationFile {
  readonly name: string
  readonly sql: string
}

const FOLDER = new URL('./migrations/', import.meta.url)

/** Reads the folder beside this file. In the single executable file, release/single.ts replaces this module by its result. */
export function readMigrationFiles(): readonly MigrationFile[] {
  return readdirSync(FOLDER).map((name) => ({ name, sql: readFileSync(new URL(name, FOLDER), 'utf8') }))
}
