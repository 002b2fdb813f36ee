import type { KeyRecord, KeyPurpose } from '../../../ports/records/key.ts'
import { lineOf } from '../../../protocol/key-rotation.ts'
import { type NounOperations, when } from '../../noun.ts'
import { setting } from './settings.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

const SIGNING_KEYS = table<KeyRecord>({
  id: text('key_id'),
  purpose: text('purpose'),
  algorithm: text('algorithm'),
  publicJwk: text('public_jwk'),
  encryptedPrivateKey: text('encrypted_private_key'),
  createdAt: bigint('created_at'),
  activeFrom: bigint('active_from'),
})

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

const operations = {
  /** Nodes that see no key of an algorithm write the same setting, one after the other, and the first adds the key. */
  addFirstKey: {
    keys: () => ['signing-keys'],
    cache: 'kept',
    event: ({ id }, first) => (first.id === id ? { event: 'key.added', details: { key: id } } : undefined),
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
    cache: 'kept',
    event: when('added', ({ key }) => ({ event: 'key.added', details: { key: key.id } })),
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
    cache: 'kept',
    event: when('removed', ({ id }) => ({ event: 'key.removed', details: { key: id } })),
    *run({ id, replacement }) {
      const keys = yield* reads.listKeys()
      const key = keys.find((one) => one.id === id)
      if (key === undefined || !keys.some((one) => one.id === replacement)) return 'unknown'
      return (yield* rows(REMOVE, { id })).length === 1 ? 'removed' : 'unknown'
    },
  },
} satisfies NounOperations

const reads = {
  *listKeys(): Steps<readonly KeyRecord[]> {
    return (yield* rows(LIST_KEYS)).map(SIGNING_KEYS.read)
  },
}

export const signingKeys = { operations, reads }

/** Replaces the keys of all purposes. */
export function* replaceKeys(keys: readonly KeyRecord[]): Steps<void> {
  yield* rows(CLEAR)
  for (const key of keys) yield* rows(INSERT, SIGNING_KEYS.values(key))
}

function* keysFor(purpose: KeyPurpose): Steps<readonly KeyRecord[]> {
  return (yield* reads.listKeys()).filter((key) => key.purpose === purpose)
}
