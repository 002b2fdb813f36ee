import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable, type Operation, type Settled, type StoreDriver } from '../../ports/store.ts'
import { failAll, settleAlone } from '../settle-alone.ts'
import { accountStatements } from './accounts.ts'
import { authorizationStatements } from './authorizations.ts'
import { startCheckpoints } from './checkpoints.ts'
import { clientStatements } from './clients.ts'
import { isBusy, openDatabase, primaryCode } from './database.ts'
import type { Handlers } from './handlers.ts'
import { migrate } from './migrate.ts'
import { operatorStatements } from './operator.ts'
import { openRecordCache } from './record-cache.ts'
import { revocationStatements } from './revocations.ts'
import { sweepStatements } from './sweep.ts'
import { tokenStatements } from './tokens.ts'

export interface SqliteOptions {
  readonly path: string
  /** How long a commit waits for another process that holds the lock, before it answers StoreUnavailable. */
  readonly patienceMs: number
  /** In a server a worker thread moves the log into the file; a short-lived command leaves that to SQLite. */
  readonly checkpoints: 'worker' | 'inline'
}

/** The embedded store: one file, one writer, every commit synced. Migrates first. */
export function openSqliteStore(options: SqliteOptions): StoreDriver {
  const database = openDatabase(options.path)
  migrate(database, Date.now())
  const checkpoints = options.checkpoints === 'worker' ? startCheckpoints(database, options.path) : undefined

  const cache = openRecordCache(database)
  const clients = clientStatements(database)
  const authorizations = authorizationStatements(database)
  const tokens = tokenStatements(database)
  const accounts = accountStatements(database)
  const operator = operatorStatements(database)
  const revocations = revocationStatements(database)
  const handlers: Handlers = {
    ...clients,
    ...authorizations,
    ...tokens,
    ...accounts,
    ...operator,
    ...revocations,
    ...sweepStatements(database),
  }

  function run(operation: Operation): unknown {
    cache.forget(operation)
    return (handlers[operation.name] as (input: unknown) => unknown)(operation.input)
  }

  return {
    batchesInFlight: 1,
    commit: (operations) => commitBatch(database, operations, run, options.patienceMs),
    async close() {
      await checkpoints?.stop()
      database.close()
    },
    async ping() {
      read(() => database.prepare('select 1').get())
      return undefined
    },
    findClient: async (id) => read(() => cache.read(id, (key) => clients.findClient(key))),
    listClients: async (page) => read(() => clients.listClients(page)),
    findAuthorization: async (id) => read(() => authorizations.findAuthorization(id)),
    findConsent: async (key) => read(() => authorizations.findConsent(key)),
    hasConsented: async (userId, clientId, since) => read(() => authorizations.hasConsented(userId, clientId, since)),
    findGrant: async (id) => read(() => tokens.findGrant(id)),
    findUser: async (id) => read(() => cache.read(id, (key) => accounts.findUser(key))),
    findUserByEmail: async (email) => read(() => accounts.findUserByEmail(email)),
    listUsers: async (page) => read(() => accounts.listUsers(page)),
    findSession: async (id) => read(() => accounts.findSession(id)),
    knowsBrowser: async (userId, hash) => read(() => accounts.knowsBrowser(userId, hash)),
    isTokenRevoked: async (tokenId) => read(() => revocations.isTokenRevoked(tokenId)),
    listApis: async () => read(() => operator.listApis()),
    listKeys: async () => read(() => operator.listKeys()),
  }
}

async function commitBatch(
  database: DatabaseSync,
  operations: readonly Operation[],
  run: (operation: Operation) => unknown,
  patienceMs: number,
): Promise<readonly Settled[]> {
  await begin(database, patienceMs)
  try {
    const outcomes = operations.map(run)
    database.exec('commit')
    return outcomes.map((outcome) => ({ kind: 'done', outcome }))
  } catch (cause) {
    if (database.isTransaction) database.exec('rollback')
    if (isStorageFault(cause)) throw new StoreUnavailable('SQLite could not write', cause)
    if (operations.length === 1) return failAll(operations, cause)
  }
  return settleAlone(operations, (some) => commitBatch(database, some, run, patienceMs))
}

/** Waits for the lock with the event loop running (threats.md STO-08). */
async function begin(database: DatabaseSync, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
    try {
      database.exec('begin immediate')
      return
    } catch (cause) {
      if (!isBusy(cause) || performance.now() + pauseMs > deadline)
        throw new StoreUnavailable('SQLite is locked', cause)
    }
    await delay(pauseMs)
  }
}

function read<T>(query: () => T): T {
  try {
    return query()
  } catch (cause) {
    if (isBusy(cause) || isStorageFault(cause)) throw new StoreUnavailable('SQLite could not read', cause)
    throw cause
  }
}

/** Busy, locked, no memory, read-only, I/O, full, cannot open, corrupt: the file's fault, not an operation's. */
function isStorageFault(cause: unknown): boolean {
  return [5, 6, 7, 8, 10, 11, 13, 14, 26].includes(primaryCode(cause) ?? 0)
}
