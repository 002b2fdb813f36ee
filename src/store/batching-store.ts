import type { StoreObserver } from '../ports/observers.ts'
import type { OperationResult, Store, StoreDriver } from '../ports/store.ts'
import type { Operation, OperationName } from '../ports/operations.ts'
import { openQueue, type Waiting } from './queue.ts'

/** Limits the time for which one commit blocks the event loop. */
const BATCH_LIMIT = 512

/** An object rather than a list, so that the compiler reports a missing name. */
const NAMES: { readonly [Name in OperationName]: true } = {
  registerClient: true,
  registerPublicClient: true,
  useClient: true,
  extendRetention: true,
  updateClient: true,
  deleteClient: true,
  verifyClient: true,
  unverifyClient: true,
  disableClient: true,
  enableClient: true,
  rotateClientSecret: true,
  approveClientScope: true,
  expireClient: true,
  noteUses: true,
  startAuthorization: true,
  approveAuthorization: true,
  denyAuthorization: true,
  redeemCode: true,
  burnCode: true,
  rotateRefreshToken: true,
  revokeGrant: true,
  issueToken: true,
  revokeToken: true,
  createUser: true,
  setPassword: true,
  disableUser: true,
  enableUser: true,
  deleteUser: true,
  expireUser: true,
  expireEverything: true,
  createOrganization: true,
  renameOrganization: true,
  disableOrganization: true,
  enableOrganization: true,
  expireOrganization: true,
  deleteOrganization: true,
  addMember: true,
  disableMember: true,
  enableMember: true,
  removeMember: true,
  install: true,
  disableInstallation: true,
  enableInstallation: true,
  uninstall: true,
  startSession: true,
  endSession: true,
  countHit: true,
  forgiveHit: true,
  declareApi: true,
  updateApi: true,
  setApiCredentials: true,
  deleteApi: true,
  addFirstKey: true,
  addKey: true,
  removeKey: true,
  noteServerAlgorithm: true,
  noteClock: true,
  confirmClock: true,
  insertSettingOnce: true,
  createAdminCredential: true,
  revokeAdminCredential: true,
  recordEvent: true,
  sweepExpired: true,
}

export interface BatchingStore extends Store {
  /** The same store for an administrator, whom the audit names as the actor of every change. */
  readonly actingAs: (actor: string) => Store
}

/**
 * The store that the use cases see. Operations that are requested in the same turn of the event loop are committed in one
 * transaction at the end of the turn, and no caller gets a result before it is on disk.
 */
export function openBatchingStore(driver: StoreDriver, observer?: StoreObserver): BatchingStore {
  const commit = observer === undefined ? driver.commit : observedCommit(driver, observer)
  const perform = openQueue<Operation, never>({
    inFlight: driver.batchesInFlight,
    batchLimit: BATCH_LIMIT,
    observer,
    async run(batch) {
      const results = await commit(
        batch.map(({ asked }) => asked),
        batch,
      )
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result?.kind === 'done') resolve(result.outcome as never)
        else reject(result?.cause ?? new Error('The driver returned fewer results than there were operations.'))
      }
    },
  })
  function storeOf(by: string | undefined): Store {
    const writes = Object.fromEntries(
      Object.keys(NAMES).map((name) => [name, (input: unknown) => perform({ name, input, by } as Operation)]),
    )
    return { ...driver, ...writes } as unknown as Store
  }
  return { ...storeOf(undefined), actingAs: storeOf }
}

/** Commits, and reports the batch to the observer before any caller gets its result. */
function observedCommit(driver: StoreDriver, observer: StoreObserver) {
  return async (
    operations: readonly Operation[],
    batch: readonly Waiting<Operation, never>[],
  ): Promise<readonly OperationResult[]> => {
    const startedAt = performance.now()
    let results: readonly OperationResult[] | undefined
    try {
      results = await driver.commit(operations)
      return results
    } finally {
      observer.committed({ batch, results, startedAt, endedAt: performance.now() })
    }
  }
}
