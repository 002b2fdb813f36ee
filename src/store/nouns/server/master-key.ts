import type { StoredMasterKey } from '../../../ports/records/key.ts'
import type { ServerEnd } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { type NounOperations, when } from '../../noun.ts'
import { CLOSED, MASTER_KEY, MASTER_KEY_CHECK, timeOf, findSetting, setting } from './settings.ts'
import { replaceKeys } from './signing-keys.ts'
import { revokeAllTokens } from '../token/not-before.ts'
import { forgetProviderSecrets } from '../user/providers.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

const WRAP = shared('update settings set value = :wrapped where name = :name and value = :previous returning name')
const REVOKE_CREDENTIALS = shared('update admin_credentials set revoked_at = :now where revoked_at is null')
const REVOKE_INITIAL_TOKENS = shared(
  'update initial_tokens set revoked_at = :now where expires_at > :now and revoked_at is null',
)
const FIND_SERVER_END = shared('select name, value from settings where name in (:check, :closed)')
/** Operations on signing keys and on the server's not-before time wait for the replacement, if they are in its batch. */
const KEYS = [`setting:${MASTER_KEY}`, 'signing-keys', 'providers', 'setting:not-before']

/** The master key, and everything that ends when it is replaced. */
const operations = {
  rewrapMasterKey: {
    keys: () => KEYS,
    cache: 'kept',
    event: when('rewrapped', () => ({ event: 'secret.rotated', details: { leaked: false } })),
    *run(change) {
      return (yield* rows(WRAP, { ...change, name: MASTER_KEY })).length === 1 ? 'rewrapped' : 'conflict'
    },
  },
  replaceMasterKey: {
    keys: () => KEYS,
    cache: 'kept',
    event: when('replaced', () => ({ event: 'secret.rotated', details: { leaked: true } })),
    *run({ previous, wrapped, check, keys, now }) {
      const changed = yield* rows(WRAP, { previous, wrapped, name: MASTER_KEY })
      if (changed.length !== 1) return 'conflict'
      yield* setting(MASTER_KEY_CHECK, check)
      yield* replaceKeys(keys)
      yield* endEverythingHeld(now)
      yield* forgetProviderSecrets()
      return 'replaced'
    },
  },
} satisfies NounOperations

const reads = {
  /** Needs only the tables of the first migration. */
  *findMasterKey(): Steps<StoredMasterKey> {
    return { wrapped: yield* findSetting(MASTER_KEY), check: yield* findSetting(MASTER_KEY_CHECK) }
  },
  *findServerEnd(): Steps<ServerEnd> {
    const found = yield* rows(FIND_SERVER_END, { check: MASTER_KEY_CHECK, closed: CLOSED })
    const values = new Map(found.map((row) => [row['name'], String(row['value'])]))
    return { masterKeyCheck: values.get(MASTER_KEY_CHECK), closedAt: timeOf(values.get(CLOSED)) }
  },
}

export const masterKey = { operations, reads }

/** Revokes the credentials of all administrators, all initial access tokens, and all sessions and tokens from before now. */
export function* endEverythingHeld(now: EpochMs): Steps<void> {
  yield* rows(REVOKE_CREDENTIALS, { now })
  yield* rows(REVOKE_INITIAL_TOKENS, { now })
  yield* revokeAllTokens(now)
}
