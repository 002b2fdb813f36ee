import type { StoreObserver } from '../ports/observers.ts'
import type { OperationResult, Store, StoreDriver } from '../ports/store.ts'
import type { Operation } from '../ports/operations/index.ts'
import { OUT_OF_REACH, type Bounds } from '../ports/operations/reach.ts'
import { OPERATIONS } from './nouns.ts'
import { openQueue, type Waiting } from './queue.ts'
import { openWriteCheck, type WriteCheck } from './write-check.ts'

/** Limits the time for which one commit blocks the event loop. */
const BATCH_LIMIT = 512

export interface BatchingStore extends Store {
  /**
   * The same store for an administrator, whom the audit names as the actor of every change, and who changes only accounts within the bounds;
   * undefined: all.
   */
  readonly actingAs: (actor: string, bounds: Bounds | undefined) => Store
}

/**
 * The store that the use cases see. Operations that are requested in the same turn of the event loop are committed as one batch
 * at the end of the turn, and no caller gets a result before it is on disk. Each operation is atomic, the batch is not
 * (ports/operations/index.ts). `currentRequest` returns the id of the request that is being served, for the audit.
 */
export function openBatchingStore(
  driver: StoreDriver,
  observer?: StoreObserver,
  currentRequest: () => string | undefined = () => undefined,
  monotonic?: () => number,
): BatchingStore {
  const writes = openWriteCheck(driver, monotonic)
  const checked = checkedCommit(driver, writes)
  const commit = observer === undefined ? checked : observedCommit(checked, observer)
  const perform = openQueue<Operation, never>({
    inFlight: driver.batchesInFlight,
    batchLimit: BATCH_LIMIT,
    observer,
    async run(batch) {
      const results = await commit(
        batch.map(({ asked }) => asked),
        batch,
      )
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result?.kind === 'done') resolve(result.outcome as never)
        else reject(result?.cause ?? new Error('The driver returned fewer results than there were operations.'))
      })
    },
  })
  function storeOf(by: string | undefined, bounds: Bounds | undefined): Store {
    const request = (name: string, input: unknown): Promise<unknown> =>
      perform({ name, input, by, requestId: currentRequest() } as Operation)
    const withinBounds = async (name: string, input: object, { reach, refuse }: Bounds): Promise<unknown> => {
      const outcome = await request(name, { ...input, reach })
      if (outcome === OUT_OF_REACH) throw refuse()
      return outcome
    }
    const operations = Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, row]) =>
        bounds === undefined || !('account' in row)
          ? [name, (input: unknown) => request(name, input)]
          : [name, (input: object) => withinBounds(name, input, bounds)],
      ),
    )
    const { require: checkWrites, isDoubted: doubtsWrites, lastOutage } = writes
    return { ...driver, ...operations, checkWrites, doubtsWrites, lastOutage } as unknown as Store
  }
  return { ...storeOf(undefined, undefined), actingAs: storeOf }
}

/** Commits, and notes what failed for another reason than the operation's own. */
function checkedCommit({ commit }: Pick<StoreDriver, 'commit'>, writes: WriteCheck): StoreDriver['commit'] {
  return async (operations) => {
    writes.refuse()
    try {
      const results = await commit(operations)
      for (const result of results) if (result.kind === 'failed') writes.failed(result.cause)
      return results
    } catch (cause) {
      writes.failed(cause)
      throw cause
    }
  }
}

/** Commits, and reports the batch to the observer before any caller gets its result. */
function observedCommit(commit: StoreDriver['commit'], observer: StoreObserver) {
  return async (
    operations: readonly Operation[],
    batch: readonly Waiting<Operation, never>[],
  ): Promise<readonly OperationResult[]> => {
    const startedAt = performance.now()
    let results: readonly OperationResult[] | undefined
    try {
      results = await commit(operations)
      return results
    } finally {
      observer.committed({ batch, results, startedAt, endedAt: performance.now() })
    }
  }
}
