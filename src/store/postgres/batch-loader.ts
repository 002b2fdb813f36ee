import { openQueue } from '../queue.ts'

const IN_FLIGHT = 2
const BATCH_LIMIT = 512

/** Finds records by id. All ids that one turn of the event loop requests are read by one statement. */
export function openBatchLoader<Id extends string, Found extends { readonly id: Id }>(
  findAll: (ids: readonly Id[]) => Promise<readonly Found[]>,
): (id: Id) => Promise<Found | undefined> {
  const find = openKeyedBatchLoader<{ readonly id: Id }, Found>(
    ({ id }) => id,
    (keys) => findAll(keys.map(({ id }) => id)),
  )
  return (id) => find({ id })
}

/** The same for keys of several parts, which `idOf` joins into one text. */
export function openKeyedBatchLoader<Key, Found extends Key>(
  idOf: (key: Key) => string,
  findAll: (keys: readonly Key[]) => Promise<readonly Found[]>,
): (key: Key) => Promise<Found | undefined> {
  const find = openQueue<Key, Found | undefined>({
    inFlight: IN_FLIGHT,
    batchLimit: BATCH_LIMIT,
    async run(batch) {
      const keys = new Map(batch.map(({ asked }) => [idOf(asked), asked]))
      const records = await findAll([...keys.values()])
      const found = new Map(records.map((record) => [idOf(record), record]))
      for (const { asked, resolve } of batch) resolve(found.get(idOf(asked)))
    },
  })
  // No text in PostgreSQL contains this character. With it the whole batch would be refused.
  return (key) => (idOf(key).includes('\0') ? Promise.resolve(undefined) : find(key))
}
