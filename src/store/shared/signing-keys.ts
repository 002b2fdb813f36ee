import type { KeyPurpose, KeyRecord } from '../../ports/records/key.ts'
import { lineOf } from '../../protocol/key-rotation.ts'
import { SIGNING_KEYS } from '../tables/key.ts'
import { setting } from '../nouns/server/settings.ts'
import { rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const { names, parameters } = SIGNING_KEYS
const INSERT = shared(`insert into signing_keys (${names}) values (${parameters})`)
/** Of nodes that see the same newest key of an algorithm only one adds the next: a key has one successor. */
const FOLLOW = shared(
  `insert into signing_keys (${names}, follows) values (${parameters}, :follows)
   on conflict (follows) do nothing returning key_id`,
)
const REMOVE = shared('delete from signing_keys where key_id = :id returning key_id')
const CLEAR = shared('delete from signing_keys')
const LIST_KEYS = shared('select * from signing_keys order by key_id')

export const signingKeyHandlers = {
  /** Nodes that see no key of an algorithm write the same setting, one after the other, and the first adds the key. */
  addFirstKey: {
    keys: () => ['signing-keys'],
    *run(key) {
      yield* setting(`first-key:${key.purpose}:${key.algorithm}`, key.id)
      const [first] = lineOf(yield* keysFor(key.purpose), key)
      if (first !== undefined) return first
      yield* rows(INSERT, SIGNING_KEYS.values(key))
      return key
    },
  },
  addKey: {
    keys: () => ['signing-keys'],
    *run({ key, follows }) {
      const keys = yield* keysFor(key.purpose)
      const algorithm = keys.find(({ id }) => id === follows)?.algorithm
      const newest = keys.findLast((one) => one.algorithm === algorithm)
      if (newest?.id !== follows || newest.id >= key.id) return 'conflict'
      const added = yield* rows(FOLLOW, { ...SIGNING_KEYS.values(key), follows })
      return added.length === 1 ? 'added' : 'conflict'
    },
  },
  removeKey: {
    keys: () => ['signing-keys'],
    *run({ id, replacement }) {
      const keys = yield* signingKeyReads.listKeys()
      const key = keys.find((one) => one.id === id)
      if (key === undefined || !keys.some((one) => one.id === replacement)) return 'unknown'
      return (yield* rows(REMOVE, { id })).length === 1 ? 'removed' : 'unknown'
    },
  },
} satisfies SharedHandlers

export const signingKeyReads = {
  *listKeys(): Steps<readonly KeyRecord[]> {
    return (yield* rows(LIST_KEYS)).map(SIGNING_KEYS.read)
  },
}

/** Replaces the keys of all purposes. */
export function* replaceKeys(keys: readonly KeyRecord[]): Steps<void> {
  yield* rows(CLEAR)
  for (const key of keys) yield* rows(INSERT, SIGNING_KEYS.values(key))
}

function* keysFor(purpose: KeyPurpose): Steps<readonly KeyRecord[]> {
  return (yield* signingKeyReads.listKeys()).filter((key) => key.purpose === purpose)
}
