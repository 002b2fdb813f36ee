import { readdirSync, readFileSync } from 'node:fs'

/** One step of the schema. Applied once, in order, each in its own transaction together with the note that it was. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

const FOLDER = new URL('./migrations/', import.meta.url)

/** The numbered SQL files beside this one. */
export function listMigrations(): readonly Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .toSorted()
    .map((file) => ({
      version: Number.parseInt(file.slice(0, 4), 10),
      name: file.slice(5, -4),
      sql: readFileSync(new URL(file, FOLDER), 'utf8'),
    }))
}
