import type { KeyPurpose, KeyRecord } from '../../ports/records/key.ts'
import { lineOf } from '../../protocol/key-rotation.ts'
import { KEY_COLUMNS, SIGNING_KEYS } from '../operator-tables.ts'
import { setting } from './operator.ts'
import { rows, shared, type SharedHandlers, type Steps } from './statement.ts'

/** The statements on the table of a purpose. */
function statementsOn(table: string) {
  const { names, parameters } = KEY_COLUMNS
  return {
    insert: shared(`insert into ${table} (${names}) values (${parameters})`),
    /** Of nodes that see the same newest key of an algorithm only one adds the next: a key has one successor. */
    follow: shared(
      `insert into ${table} (${names}, follows) values (${parameters}, :follows)
       on conflict (follows) do nothing returning key_id`,
    ),
    remove: shared(`delete from ${table} where key_id = :id returning key_id`),
    clear: shared(`delete from ${table}`),
  }
}

const ON = {
  access: statementsOn('signing_keys'),
  id: statementsOn('id_token_keys'),
} as const satisfies Record<KeyPurpose, unknown>

const LIST_ACCESS_KEYS = shared('select * from signing_keys order by key_id')
/** One statement for both tables: each node runs it once a second. */
const LIST_KEYS = shared(
  `select ${KEY_COLUMNS.names}, 'access' as purpose from signing_keys
   union all select ${KEY_COLUMNS.names}, 'id' as purpose from id_token_keys order by key_id`,
)
/** A node that waited for the first key of another algorithm then tries again for its own algorithm. */
const FIRST_KEY_ROUNDS = 2

export const signingKeyHandlers = {
  /**
   * Nodes that see no key of an algorithm write the same setting, one after the other, and the first adds the key. A store
   * without any key for access tokens has one setting for all algorithms.
   */
  addFirstKey: {
    keys: () => ['signing-keys'],
    *run(key) {
      for (let round = 1; round <= FIRST_KEY_ROUNDS; round += 1) {
        const before = yield* keysFor(key.purpose)
        yield* setting(turnOf(key, before), key.id)
        const keys = yield* keysFor(key.purpose)
        const [first] = lineOf(keys, key)
        if (first !== undefined) return first
        // Another node added the first key of another algorithm, so the setting is another one now.
        if (turnOf(key, keys) !== turnOf(key, before)) continue
        yield* insertKey(key)
        return key
      }
      throw new Error(`The first ${key.algorithm} key was removed while it was being created.`)
    },
  },
  addKey: {
    keys: () => ['signing-keys'],
    *run({ key, follows }) {
      const keys = yield* keysFor(key.purpose)
      const algorithm = keys.find(({ id }) => id === follows)?.algorithm
      const newest = keys.findLast((one) => one.algorithm === algorithm)
      if (newest?.id !== follows || newest.id >= key.id) return 'conflict'
      const added = yield* rows(ON[key.purpose].follow, { ...KEY_COLUMNS.values(key), follows })
      return added.length === 1 ? 'added' : 'conflict'
    },
  },
  removeKey: {
    keys: () => ['signing-keys'],
    *run({ id, replacement }) {
      const keys = yield* signingKeyReads.listKeys()
      const key = keys.find((one) => one.id === id)
      if (key === undefined || !keys.some((one) => one.id === replacement)) return 'unknown'
      return (yield* rows(ON[key.purpose].remove, { id })).length === 1 ? 'removed' : 'unknown'
    },
  },
} satisfies SharedHandlers

export const signingKeyReads = {
  *listKeys(): Steps<readonly KeyRecord[]> {
    return (yield* rows(LIST_KEYS)).map(SIGNING_KEYS.read)
  },
}

/** The keys for access tokens. Needs only the tables of the first migration. */
export function* listAccessKeys(): Steps<readonly KeyRecord[]> {
  return (yield* rows(LIST_ACCESS_KEYS)).map(SIGNING_KEYS.read)
}

/** Replaces the keys of all purposes. */
export function* replaceKeys(keys: readonly KeyRecord[]): Steps<void> {
  for (const { clear } of Object.values(ON)) yield* rows(clear)
  for (const key of keys) yield* insertKey(key)
}

function* keysFor(purpose: KeyPurpose): Steps<readonly KeyRecord[]> {
  return (yield* signingKeyReads.listKeys()).filter((key) => key.purpose === purpose)
}

function* insertKey(key: KeyRecord): Steps<void> {
  yield* rows(ON[key.purpose].insert, KEY_COLUMNS.values(key))
}

/** The setting that makes nodes take turns. Releases with a single algorithm use `first-key`, too. */
function turnOf({ purpose, algorithm }: KeyRecord, keys: readonly KeyRecord[]): string {
  if (purpose === 'id') return `first-key:id:${algorithm}`
  return keys.length === 0 ? 'first-key' : `first-key:${algorithm}`
}
