import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import { StoreClosed, StoreUnavailable, type OperationResult, type StoreDriver } from '../../ports/store.ts'
import type { Operation } from '../../ports/operations/index.ts'
import type { Chains } from '../../audit/chain.ts'
import { auditEvents } from '../effects.ts'
import { belongingKey, readBelonging } from '../nouns/organization/group-members.ts'
import { installationKey } from '../nouns/organization/installations.ts'
import { organizationKey } from '../nouns/organization/access-rules.ts'
import { membershipKey } from '../nouns/organization/memberships.ts'
import { AUDIT_LINKS, ADD_AUDIT_LINK } from '../nouns/server/audit.ts'
import { indexUsers, listIndexedUsers } from '../nouns/user/user-search.ts'
import { failAll, commitEachAlone } from '../commit-each-alone.ts'
import { authorizationStatements } from './authorizations.ts'
import { beginWriting, type LockPatience } from './file/begin-writing.ts'
import { startCheckpoints } from './file/checkpoints.ts'
import { clientStatements } from './clients.ts'
import { isRefusedByClosing } from './closing.ts'
import { watchFiles, type FileWatch } from './file/database-file.ts'
import { isBusy, openDatabase, primaryCode } from './database.ts'
import { watchDisk, type Disk } from './file/disk.ts'
import type { Handlers } from './handlers.ts'
import { hitStatements } from './hits.ts'
import { migrate } from './migrate.ts'
import { findClockNotes } from './clock-notes.ts'
import { openRecordCache } from './record-cache.ts'
import { recordStatements } from './records.ts'
import type { ServerLock } from './file/server-lock.ts'
import { openSteps, sharedHandlers, sharedReads } from './steps.ts'
import { consumedStatements, opaqueTokenStatements, revocationStatements, tokenStatements } from './tokens.ts'
import { FTS_INDEX, openRowNumbers } from './user-search.ts'
import { openTransactions, type Transactions } from './file/transactions.ts'

export interface SqliteOptions {
  readonly path: string
  /** How long a commit waits while another process holds the lock, before it fails with StoreUnavailable. */
  readonly patienceMs: number
  /** `worker`: a thread moves the log into the file, for servers. `inline`: SQLite does, for short-lived commands. */
  readonly checkpoints: 'worker' | 'inline'
  /** Writes the audit. Absent: no audit is written. */
  readonly audit?: Chains
  /** The lock of a server. Absent: a command, which needs none. */
  readonly lock?: Pick<ServerLock, 'keep'> | undefined
}

/** Opens the embedded store: one file, one writer, every commit synced. Migrates first. */
export function openSqliteStore(options: SqliteOptions): StoreDriver {
  const database = openDatabase(options.path)
  migrate(database, Date.now())
  const files = watchFiles(options.path, options.lock?.keep)
  const checkpoints = options.checkpoints === 'worker' ? startCheckpoints(database, options.path, files) : undefined

  const cache = openRecordCache(database)
  const transactions = openTransactions(database, cache.refresh)
  const disk = watchDisk(database, options.path, { ...options, ...transactions })
  const runSteps = openSteps(database)
  const clients = clientStatements(database)
  const authorizations = authorizationStatements(database, runSteps)
  const tokens = tokenStatements(database)
  const records = recordStatements(database)
  const opaqueTokens = opaqueTokenStatements(database)
  const revocations = revocationStatements(database)
  const addAuditLink = database.prepare(ADD_AUDIT_LINK.sqlite)
  const resetRowNumber = openRowNumbers(database)
  const handlers: Handlers = {
    ...sharedHandlers(runSteps),
    ...clients,
    ...authorizations,
    ...tokens,
    ...hitStatements(database),
    ...opaqueTokens,
    ...revocations,
    ...consumedStatements(database),
    indexUsers(turn) {
      try {
        return runSteps(indexUsers(turn, FTS_INDEX))
      } finally {
        resetRowNumber()
      }
    },
    // The commit's audit link contains the event.
    recordEvent: () => 'recorded',
  }
  const reads = sharedReads((steps) => read(() => runSteps(steps)))

  function run(operation: Operation): unknown {
    cache.forget(operation)
    return (handlers[operation.name] as (input: unknown) => unknown)(operation.input)
  }

  function read<T>(query: () => T): T {
    try {
      return transactions.read(query)
    } catch (cause) {
      if (isBusy(cause) || isStorageFault(cause)) throw new StoreUnavailable('SQLite could not read', cause)
      throw cause
    }
  }

  const isCutting = (): boolean => checkpoints?.isCutting() ?? false
  const committing: Committing = {
    ...options,
    isCutting,
    files,
    disk,
    transactions,
    database,
    run,
    resetRowNumber,
    addAuditLink: (link) => void addAuditLink.run(...AUDIT_LINKS.write(link)),
  }
  return {
    batchesInFlight: 1,
    commit: (operations) => commitBatch(committing, operations),
    async close() {
      files.stop()
      await checkpoints?.stop()
      transactions.endReading()
      database.close()
    },
    async ping() {
      read(() => database.prepare('select 1').get())
      return undefined
    },
    writeProbes: {
      ...disk,
      async look() {
        files.isInPlace()
        files.require()
        await disk.look()
      },
    },
    ...reads,
    findClient: async (id) => read(() => cache.read(id, clients.findClient)),
    findAuthorization: async (id) => read(() => authorizations.findAuthorization(id)),
    findGrant: async (id) => read(() => tokens.findGrant(id)),
    findUser: async (id) => read(() => cache.read(id, records.findUser)),
    findOrganization: async (id) => read(() => cache.read(organizationKey(id), () => records.findOrganization(id))),
    // The cache knows each change that another process commits to the file.
    findCurrent: async ({ clientId, userId, organizationId }) =>
      read(() => ({
        client: cache.read(clientId, clients.findClient),
        user: cache.read(userId, records.findUser),
        organization:
          organizationId && cache.read(organizationKey(organizationId), () => records.findOrganization(organizationId)),
      })),
    findMembership: async (key) => read(() => cache.read(membershipKey(key), () => records.findMembership(key))),
    findBelonging: async (id) =>
      read(() => cache.read(belongingKey(id), () => records.findBelonging(id)) ?? readBelonging(id, [])),
    findInstallation: async (key) => read(() => cache.read(installationKey(key), () => records.findInstallation(key))),
    findSession: async (id) => read(() => records.findSession(id)),
    isTokenRevoked: async (tokenId) => read(() => revocations.isTokenRevoked(tokenId)),
    findOpaqueToken: async (id) => read(() => opaqueTokens.findOpaqueToken(id)),
    async findListEnd(slice) {
      // A search reads slice after slice. Requests are served between two slices.
      await nextTurn()
      return reads.findListEnd(slice)
    },
    async listUnindexedUsers(page) {
      await nextTurn()
      return reads.listUnindexedUsers(page)
    },
    async listIndexedUsers(search) {
      await nextTurn()
      return read(() => runSteps(listIndexedUsers(search, FTS_INDEX)))
    },
    async listOldestClients(slice) {
      await nextTurn()
      return reads.listOldestClients(slice)
    },
    async listFigures(page) {
      // The figures of months are read slice after slice, too.
      await nextTurn()
      return reads.listFigures(page)
    },
    async listAuditLinks(page) {
      // Verifying the audit reads slice after slice, for minutes. Requests are served between two slices.
      await nextTurn()
      return reads.listAuditLinks(page)
    },
    findClockNotes: async () => read(() => runSteps(findClockNotes())),
  }
}

interface Committing extends LockPatience, Pick<SqliteOptions, 'audit'> {
  readonly files: FileWatch
  readonly disk: Disk
  readonly database: DatabaseSync
  readonly transactions: Transactions
  readonly run: (operation: Operation) => unknown
  readonly resetRowNumber: () => void
  readonly addAuditLink: (link: AuditLinkRecord) => void
}

async function commitBatch(means: Committing, operations: readonly Operation[]): Promise<readonly OperationResult[]> {
  const { database, files, run, addAuditLink } = means
  files.require()
  await beginWriting(means.transactions, means)
  const writing = means.audit?.begin()
  try {
    const outcomes = operations.map(run)
    const link = writing?.link(auditEvents(operations, outcomes))
    if (link !== undefined) addAuditLink(link)
    database.exec('commit')
    writing?.committed()
    return outcomes.map((outcome) => ({ kind: 'done', outcome }))
  } catch (cause) {
    if (database.isTransaction) database.exec('rollback')
    const fault = faultOf(cause, means.disk)
    writing?.failed(fault)
    if (fault instanceof StoreUnavailable) throw fault
    if (operations.length === 1) return failAll(operations, cause)
  } finally {
    if (operations.some(({ name }) => name === 'indexUsers')) means.resetRowNumber()
  }
  return commitEachAlone(operations, (some) => commitBatch(means, some))
}

function faultOf(cause: unknown, disk: Pick<Disk, 'failed'>): unknown {
  if (isRefusedByClosing(cause)) return new StoreClosed(cause)
  return isStorageFault(cause) ? disk.failed(cause) : cause
}

/** Busy, locked, no memory, read-only, I/O error, full, cannot open, corrupt: a fault of the file, not of an operation. */
function isStorageFault(cause: unknown): boolean {
  return [5, 6, 7, 8, 10, 11, 13, 14, 26].includes(primaryCode(cause) ?? 0)
}
