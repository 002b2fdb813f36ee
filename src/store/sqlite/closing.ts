import type { DatabaseSync } from 'node:sqlite'
import { CLOSED_STORE } from '../../ports/store.ts'
import type { EpochMs } from '../../base/brand.ts'
import { BACKUP_TABLES } from '../backup/tables.ts'
import { CLOSED } from '../nouns/server/settings.ts'
import { revokeAllTokens } from '../nouns/token/not-before.ts'
import { openDatabase } from './database.ts'
import { openSteps } from './steps.ts'

const CHANGES = ['insert', 'update', 'delete'] as const
/** SQLITE_CONSTRAINT_TRIGGER (https://sqlite.org/rescode.html). The schema has no other triggers. */
const REFUSED_BY_TRIGGER = 1811
const PATIENCE_MS = 10_000

/**
 * Closes the store in one transaction: from then on triggers refuse the writes of every process, also of one that has the file
 * open.
 *
 * @throws Error if it is closed already, or another process writes for too long
 */
export function closeSqlite(path: string, now: EpochMs): void {
  change(path, (database) => {
    database.prepare('insert into settings (name, value) values (?, ?)').run(CLOSED, String(now))
    for (const { name, event, table } of triggersOf(database))
      database.exec(
        `create trigger ${name} before ${event} on ${table} begin select raise(abort, '${CLOSED_STORE}'); end`,
      )
  })
}

/** Opens a closed store again. With `endedAt`, everything that was issued until that time is revoked in the same transaction. */
export function reopenSqlite(path: string, endedAt: EpochMs | undefined): void {
  change(path, (database) => {
    for (const { name } of triggersOf(database)) database.exec(`drop trigger if exists ${name}`)
    database.prepare('delete from settings where name = ?').run(CLOSED)
    if (endedAt !== undefined) openSteps(database)(revokeAllTokens(endedAt))
  })
}

/** Whether a write failed because the store is closed. */
export function isRefusedByClosing(cause: unknown): boolean {
  return cause instanceof Error && 'errcode' in cause && cause.errcode === REFUSED_BY_TRIGGER
}

function change(path: string, work: (database: DatabaseSync) => void): void {
  const database = openDatabase(path)
  try {
    database.exec(`pragma busy_timeout = ${PATIENCE_MS}`)
    database.exec('begin immediate')
    work(database)
    database.exec('commit')
  } finally {
    database.close()
  }
}

function triggersOf(database: DatabaseSync) {
  const tables = database.prepare(`select name from sqlite_master where type = 'table' order by name`).all()
  return tables
    .map(({ name }) => String(name))
    .filter((table) => Object.hasOwn(BACKUP_TABLES, table))
    .flatMap((table) => CHANGES.map((event) => ({ name: `closed_${table}_${event}`, event, table })))
}
