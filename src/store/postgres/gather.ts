import { openQueue } from '../queue.ts'

const IN_FLIGHT = 2
const BATCH_LIMIT = 512

/** Finds records by id, with one statement for all that one turn of the event loop asks for. */
export function openGather<Id extends string, Found extends { readonly id: Id }>(
  findAll: (ids: readonly Id[]) => Promise<readonly Found[]>,
): (id: Id) => Promise<Found | undefined> {
  const find = openQueue<Id, Found | undefined>({
    inFlight: IN_FLIGHT,
    batchLimit: BATCH_LIMIT,
    async run(batch) {
      const records = await findAll([...new Set(batch.map(({ asked }) => asked))])
      const found = new Map(records.map((record) => [record.id, record]))
      for (const { asked, resolve } of batch) resolve(found.get(asked))
    },
  })
  // No text in PostgreSQL holds this character; asked for it, it would refuse the whole batch.
  return (id) => (id.includes('\0') ? Promise.resolve(undefined) : find(id))
}
