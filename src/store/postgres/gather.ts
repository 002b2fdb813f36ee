import { StoreUnavailable } from '../../ports/store.ts'
import { openQueue } from '../queue.ts'

interface Waiting<Id, Found> {
  readonly id: Id
  readonly resolve: (found: Found | undefined) => void
  readonly reject: (cause: unknown) => void
}

const IN_FLIGHT = 2
const BATCH_LIMIT = 512
const WAITING_LIMIT = 10_000

/** Finds records by id, with one statement for all that one turn of the event loop asks for. */
export function openGather<Id extends string, Found extends { readonly id: Id }>(
  findAll: (ids: readonly Id[]) => Promise<readonly Found[]>,
): (id: Id) => Promise<Found | undefined> {
  const queue = openQueue<Waiting<Id, Found>>({
    inFlight: IN_FLIGHT,
    batchLimit: BATCH_LIMIT,
    async run(batch) {
      try {
        const records = await findAll([...new Set(batch.map(({ id }) => id))])
        const found = new Map(records.map((record) => [record.id, record]))
        for (const { id, resolve } of batch) resolve(found.get(id))
      } catch (cause) {
        for (const { reject } of batch) reject(cause)
      }
    },
  })
  return (id) => {
    if (queue.size() >= WAITING_LIMIT) return Promise.reject(new StoreUnavailable('too many questions are waiting'))
    return new Promise((resolve, reject) => queue.add({ id, resolve, reject }))
  }
}
