import type { Operation, OperationName, Store, StoreDriver } from '../ports/store.ts'
import { openQueue } from './queue.ts'

/** Bounds the time that one commit holds the event loop. */
const BATCH_LIMIT = 512

/** The names are data, so that the compiler finds one that is missing here. */
const NAMES: { readonly [Name in OperationName]: true } = {
  registerClient: true,
  shareClient: true,
  useClient: true,
  holdClient: true,
  updateClient: true,
  deleteClient: true,
  verifyClient: true,
  unverifyClient: true,
  disableClient: true,
  enableClient: true,
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
  addKey: true,
  removeKey: true,
  settle: true,
  sweepExpired: true,
}

/**
 * The store as the use-cases see it: everything that one turn of the event loop asks for is committed in one transaction
 * at the turn's end, and nobody is answered before it is on disk.
 */
export function openTurns(driver: StoreDriver): Store {
  const perform = openQueue<Operation, never>({
    inFlight: driver.batchesInFlight,
    batchLimit: BATCH_LIMIT,
    async run(batch) {
      const results = await driver.commit(batch.map(({ asked }) => asked))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result?.kind === 'done') resolve(result.outcome as never)
        else reject(result?.cause ?? new Error('The driver answered fewer results than it was given operations.'))
      }
    },
  })
  const writes = Object.fromEntries(
    Object.keys(NAMES).map((name) => [name, (input: unknown) => perform({ name, input } as Operation)]),
  )
  return { ...driver, ...writes } as unknown as Store
}
