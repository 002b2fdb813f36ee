import type { StoreObserver } from '../ports/observers.ts'
import type { OperationResult, Store, StoreDriver } from '../ports/store.ts'
import type { Operation, OperationName } from '../ports/operations.ts'
import { openQueue, type Waiting } from './queue.ts'

/** Bounds the time that one commit holds the event loop. */
const BATCH_LIMIT = 512

/** The names are data, so that the compiler finds one that is missing here. */
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
  /** The same store for an administrator: the audit says of every change that this one made it. */
  readonly actingAs: (actor: string) => Store
}

/**
 * The store as the use-cases see it: everything that one turn of the event loop asks for is committed in one transaction
 * at the turn's end, and nobody is answered before it is on disk.
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
        else reject(result?.cause ?? new Error('The driver answered fewer results than it was given operations.'))
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

/** Commits, and tells what became of it before anybody else hears. */
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
