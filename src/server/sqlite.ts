import { existsSync } from 'node:fs'
import type { Chains } from '../audit/chain.ts'
import type { Config } from '../config/config.ts'
import { rootSecretPath } from '../keys/root-secret.ts'
import type { StoreDriver } from '../ports/store.ts'
import { readSqliteFacts } from '../store/sqlite/inspect.ts'
import { refuseForeignLog } from '../store/sqlite/file/foreign-log.ts'
import { takeServerLock } from '../store/sqlite/file/server-lock.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'

/** How long a commit waits for another process that holds SQLite's lock. A request cannot wait long; a command can. */
const LOCK_TIMEOUT_MS = { server: 200, command: 10_000 } as const

/** Opens the driver of a SQLite file. A server holds the lock of the file from before it is opened until after it is closed. */
export function openSqlite(
  config: Pick<Config, 'secret' | 'database'>,
  path: string,
  user: keyof typeof LOCK_TIMEOUT_MS,
  audit: Chains,
): StoreDriver {
  const lock = user === 'server' ? takeServerLock(path) : undefined
  const checkpoints = user === 'server' ? 'worker' : 'inline'
  try {
    if (lock !== undefined) refuseForeignLog(path)
    refuseMissingFile(config)
    const driver = openSqliteStore({ path, patienceMs: LOCK_TIMEOUT_MS[user], checkpoints, audit, lock })
    return { ...driver, close: () => driver.close().finally(() => lock?.release()) }
  } catch (cause) {
    lock?.release()
    throw cause
  }
}

/**
 * Rejects a SQLite file and a secret file of which one is missing: a new secret would make every stored credential invalid,
 * and a new database would replace the one that was lost. A secret from the configuration is not checked, because with it an
 * empty database is the normal first start.
 *
 * @throws Error that says what to do
 */
function refuseMissingFile({ secret, database }: Pick<Config, 'secret' | 'database'>): void {
  if (secret !== undefined || database.kind === 'postgres') return
  const { path } = database
  const secretPath = rootSecretPath(path)
  // A first start creates the schema, then the secret, then the check of the secret. Another process may be at any of these.
  const hadSecret = existsSync(secretPath)
  const { hasSchema, secretCheck } = readSqliteFacts(path)
  if (hadSecret && !hasSchema) {
    throw new Error(
      `${secretPath} is the root secret of a database, but ${path} is ${existsSync(path) ? 'empty' : 'missing'}. Put the database there, or restore a backup: grantor restore --from <file>. For a new database move ${secretPath} to another place.`,
    )
  }
  if (secretCheck !== undefined && !existsSync(secretPath)) {
    throw new Error(
      `${path} has no root secret: ${secretPath} is missing. Put the file there, or set GRANTOR_SECRET to its content. No new secret was created, because every stored credential depends on the old one.`,
    )
  }
}
