import type { ConsumedKey } from '../../ports/operations/token.ts'
import { columns } from './connection/column-parameters.ts'
import { valuesOf, type Handlers } from './handlers.ts'
import { insertion, insertRows } from './connection/insertion.ts'
import type { Query } from './connection/query.ts'

const INSERT = insertion({
  name: 'consume',
  into: 'consumed (digest, expires_at)',
  types: ['text', 'bigint'],
  ending: 'on conflict (digest) do nothing returning digest',
})
const REMOVE = { name: 'release-consumed', text: 'delete from consumed where digest = any($1::text[])' }

/** The replay store: digests of values that are accepted once. */
export const consumedHandlers = {
  consumeOnce: {
    keys: (keys) => keys.map(({ digest }) => `consumed:${digest}`),
    async run(query, inputs) {
      const added = await insert(query, inputs.flat())
      const isFresh = inputs.map((keys) => keys.every(({ digest }) => added.has(digest)))
      const partial = inputs.filter((_, place) => isFresh[place] === false).flat()
      const released = partial.map(({ digest }) => digest).filter((digest) => added.has(digest))
      if (released.length > 0) await query(REMOVE, [released])
      return isFresh.map((fresh) => (fresh ? 'fresh' : 'seen'))
    },
    atOnce: {
      outcome: () => 'fresh',
      // A second statement would have to remove what was added of several keys.
      async run(query, inputs) {
        const single = inputs.filter((keys) => keys.length === 1)
        const added = single.length === 0 ? new Set() : await insert(query, single.flat())
        return inputs.map((keys) => keys.length === 1 && keys.every(({ digest }) => added.has(digest)))
      },
    },
  },
} satisfies Partial<Handlers>

/** Returns the digests that were not there. They are sorted, so that two nodes take locks in the same order. */
async function insert(query: Query, keys: readonly ConsumedKey[]): Promise<ReadonlySet<unknown>> {
  const sorted = keys.toSorted((one, other) => (one.digest < other.digest ? -1 : 1))
  return valuesOf(await insertRows(query, INSERT, columns(sorted, 'digest', 'expiresAt')), 'digest')
}
