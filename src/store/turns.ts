import { StoreUnavailable, type Operation, type OperationName, type Store, type StoreDriver } from '../ports/store.ts'
import { openQueue } from './queue.ts'

interface Waiting {
  readonly operation: Operation
  readonly resolve: (outcome: never) => void
  readonly reject: (cause: unknown) => void
}

/** More waiting operations than this are refused at once: an answer that late helps nobody. */
const QUEUE_LIMIT = 10_000
/** Bounds the time that one commit holds the event loop. */
const BATCH_LIMIT = 512

/** The names are data, so that the compiler finds one that is missing here. */
const NAMES: { readonly [Name in OperationName]: true } = {
  registerClient: true,
  useClient: true,
  holdClient: true,
  deleteClient: true,
  startAuthorization: true,
  approveAuthorization: true,
  denyAuthorization: true,
  redeemCode: true,
  burnCode: true,
  rotateRefreshToken: true,
  revokeGrant: true,
  revokeToken: true,
  createUser: true,
  setPassword: true,
  disableUser: true,
  enableUser: true,
  startSession: true,
  endSession: true,
  countHit: true,
  forgiveHit: true,
  declareApi: true,
  setApiCredentials: true,
  deleteApi: true,
  addFirstKey: true,
  settle: true,
  sweepExpired: true,
}

/**
 * The store as the use-cases see it: everything that one turn of the event loop asks for is committed in one transaction
 * at the turn's end, and nobody is answered before it is on disk.
 */
export function openTurns(driver: StoreDriver): Store {
  const queue = openQueue<Waiting>({ inFlight: driver.batchesInFlight, batchLimit: BATCH_LIMIT, run: commitAll })

  async function commitAll(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await driver.commit(batch.map(({ operation }) => operation))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result?.kind === 'done') resolve(result.outcome as never)
        else reject(result?.cause ?? new Error('The driver answered fewer results than it was given operations.'))
      }
    } catch (cause) {
      // What came meanwhile has waited for the same store: with a wait of its own it would be told twice as late.
      const late = cause instanceof StoreUnavailable ? queue.drain() : []
      for (const { reject } of [...batch, ...late]) reject(cause)
    }
  }

  function enqueue(operation: Operation): Promise<never> {
    if (queue.size() >= QUEUE_LIMIT) return Promise.reject(new StoreUnavailable('too many operations are waiting'))
    return new Promise((resolve, reject) => queue.add({ operation, resolve, reject }))
  }

  const writes = Object.fromEntries(
    Object.keys(NAMES).map((name) => [name, (input: unknown) => enqueue({ name, input } as Operation)]),
  )
  return { ...driver, ...writes } as unknown as Store
}
