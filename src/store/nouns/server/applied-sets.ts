import type { NounOperations } from '../../noun.ts'
import { APPLIED_SET } from './settings.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

const REPLACE_APPLIED = shared(
  'update settings set value = :value where name = :name and value = :previous returning name',
)
const ADD_APPLIED = shared(
  'insert into settings (name, value) values (:name, :value) on conflict (name) do nothing returning name',
)
const END_APPLIED = shared('delete from settings where name = :name and value = :previous returning name')
const LIST_APPLIED = shared(`select name, value from settings where name like '${APPLIED_SET}%' order by name`)

/** What each set of `grantor apply` has. */
const operations = {
  recordApplied: {
    keys: ({ set }) => [`setting:${APPLIED_SET}${set}`],
    cache: 'kept',
    event({ set, value, finished }, outcome) {
      if (outcome !== 'changed') return undefined
      if (value === undefined) return { event: 'apply.released', details: { set } }
      return finished && { event: 'apply.finished', details: { set, ...finished } }
    },
    *run({ set, previous, value }) {
      const statement = previous === undefined ? ADD_APPLIED : value === undefined ? END_APPLIED : REPLACE_APPLIED
      const changed = yield* rows(statement, { name: `${APPLIED_SET}${set}`, previous, value })
      return changed.length === 1 ? 'changed' : 'conflict'
    },
  },
} satisfies NounOperations

const reads = {
  *listAppliedSets(): Steps<readonly { readonly set: string; readonly value: string }[]> {
    const sets = yield* rows(LIST_APPLIED)
    return sets.map(({ name, value }) => ({
      set: (name as string).slice(APPLIED_SET.length),
      value: value as string,
    }))
  },
}

export const appliedSets = { operations, reads }
