import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'

let blank: Buffer | undefined

/**
 * Copies a SQLite file in the state right after the migrations. Migrations sync the file and take longer than most tests. Tests
 * of a first start let the store create its file.
 */
export function placeBlankDatabase(path: string): void {
  writeFileSync(path, (blank ??= makeBlankDatabase()), { flag: 'wx', mode: 0o600 })
}

function makeBlankDatabase(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  try {
    const path = join(folder, 'grantor.db')
    const database = openDatabase(path)
    migrate(database, Date.now())
    database.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
