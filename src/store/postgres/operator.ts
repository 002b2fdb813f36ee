import type { ApiRecord } from '../../ports/records/api.ts'
import type { KeyRecord, SigningAlgorithm } from '../../ports/records/key.ts'
import type { Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import { slashVariant } from '../../protocol/resource.ts'
import {
  ALGORITHM,
  apiOf,
  apiValues,
  CLOCK_CONFIRMATION,
  CLOCK_NOTE,
  clockNotesOf,
  clockNoteValue,
  firstKey,
  keyOf,
  keyValues,
  scopesSinceValue,
} from '../operator-rows.ts'
import type { Database, Query } from './database.ts'
import { eachAlone, type Handlers } from './handlers.ts'

/** Serializes declarations of trailing-slash variants of one resource, so that the next statement sees a concurrent insert. */
const DECLARE_IN_TURN = {
  name: 'declare-in-turn',
  text: `insert into settings (name, value) values ('declaring', $1)
    on conflict (name) do update set value = excluded.value`,
}
const DECLARE_API = {
  name: 'declare-api',
  text: `insert into apis (name, scopes, token_format, token_lifetime, algorithm, jwt_type, resource, created_at)
    select $1, $2, $3, $4::bigint, $5, $6, $7, $8::bigint
    where not exists (select 1 from apis where resource = $9)
    on conflict (resource) do nothing returning resource`,
}
const UPDATE_API = {
  name: 'update-api',
  text: `update apis set name = $1, scopes = $2, token_format = $3, token_lifetime = $4, algorithm = $5,
      jwt_type = $6, scopes_since = $14
    where resource = $7 and name is not distinct from $8::text and scopes = $9
      and coalesce(token_format, 'jwt') = $10 and token_lifetime is not distinct from $11::bigint
      and algorithm is not distinct from $12::text and coalesce(jwt_type, 'at+jwt') = $13
    returning resource`,
}
const SET_CREDENTIALS = {
  name: 'set-api-credentials',
  text: 'update apis set credential_id = $1, secret_hash = $2 where resource = $3 returning resource',
}
const DELETE_API = { name: 'delete-api', text: 'delete from apis where resource = $1 returning resource' }
const LIST_APIS = { name: 'list-apis', text: 'select * from apis order by resource' }
/**
 * Of nodes that see no key of an algorithm, one wins the setting if it is still as that node saw it; the others wait for its
 * key. A store without any key has one setting for all algorithms. Releases with a single algorithm use that setting, too:
 * if such a release and this one start on an empty store at the same time, only one of them makes the first key.
 */
const ADD_FIRST_KEY = {
  name: 'add-first-key',
  text: `with won as (
      insert into settings as s (name, value)
      select case when exists (select 1 from signing_keys) then 'first-key:' || $2 else 'first-key' end, $1
      where not exists (select 1 from signing_keys where algorithm = $2)
      on conflict (name) do update set value = excluded.value
        where s.value = (select seen.value from settings as seen where seen.name = s.name)
      returning s.name)
    insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from)
    select $1, $2, $3, $4, $5, $6 from won`,
}
/** Of nodes that see the same newest key of an algorithm only one adds the next: a key has one successor. */
const ADD_KEY = {
  name: 'add-key',
  text: `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from, follows)
    select $1, $2, $3, $4, $5, $6, $7 from (
      select max(key_id) as newest from signing_keys
      where algorithm = (select algorithm from signing_keys where key_id = $7)) as known
    where newest = $7 and newest < $1
    on conflict (follows) do nothing returning key_id`,
}
const REMOVE_KEY = {
  name: 'remove-key',
  text: `delete from signing_keys where key_id = $1 and exists (select 1 from signing_keys where key_id = $2)
    returning key_id`,
}
const LIST_KEYS = { name: 'list-keys', text: 'select * from signing_keys order by key_id' }
const NOTE = {
  name: 'note-setting',
  text: 'insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
}
const INSERT_SETTING_ONCE = {
  name: 'insert-setting-once',
  text: 'insert into settings (name, value) values ($1, $2) on conflict (name) do nothing',
}
const FIND_SETTING = { name: 'find-setting', text: 'select value from settings where name = $1' }

/** Statements for what the operator configures (APIs) and what the server configures for itself (signing keys, settings). */
export function operatorStatements(database: Database) {
  const handlers = {
    declareApi: {
      keys: ({ resource }) => [resource, slashVariant(resource) ?? []].flat(),
      run: eachAlone(async (query, api: Input<'declareApi'>) => {
        const twin = slashVariant(api.resource)
        if (twin !== undefined) await query(DECLARE_IN_TURN, [api.resource])
        const rows = await query(DECLARE_API, [...apiValues(api), api.createdAt, twin ?? null])
        return rows.length === 1 ? 'declared' : 'taken'
      }),
    },
    updateApi: {
      keys: ({ api }) => [api.resource],
      run: eachAlone(async (query, { previous, api }: Input<'updateApi'>) => {
        const values = [...apiValues(api), ...apiValues(previous).slice(0, -1), scopesSinceValue(api)]
        const rows = await query(UPDATE_API, values)
        return rows.length === 1 ? 'changed' : 'conflict'
      }),
    },
    setApiCredentials: {
      keys: ({ resource }) => [resource],
      run: eachAlone(async (query, { resource, credentials }: Input<'setApiCredentials'>) => {
        const rows = await query(SET_CREDENTIALS, [credentials.id, credentials.secretHash, resource])
        return rows.length === 1 ? 'changed' : 'unknown'
      }),
    },
    deleteApi: {
      keys: (resource) => [resource],
      run: eachAlone(async (query, resource: string) =>
        (await query(DELETE_API, [resource])).length === 1 ? 'deleted' : 'unknown',
      ),
    },
    addFirstKey: {
      keys: () => ['signing-keys'],
      run: eachAlone(async (query, key: KeyRecord) => {
        // A node that loses to the first key of another algorithm then tries again for its own algorithm.
        for (let round = 1; round <= 2; round += 1) {
          await query(ADD_FIRST_KEY, keyValues(key))
          const first = firstKey(await listKeys(query), key.algorithm)
          if (first !== undefined) return first
        }
        throw new Error(`The first ${key.algorithm} key was removed while it was being created.`)
      }),
    },
    addKey: {
      keys: () => ['signing-keys'],
      run: eachAlone(async (query, { key, follows }: Input<'addKey'>) => {
        const rows = await query(ADD_KEY, [...keyValues(key), follows])
        return rows.length === 1 ? 'added' : 'conflict'
      }),
    },
    removeKey: {
      keys: () => ['signing-keys'],
      run: eachAlone(async (query, { id, replacement }: Input<'removeKey'>) => {
        const rows = await query(REMOVE_KEY, [id, replacement])
        return rows.length === 1 ? 'removed' : 'unknown'
      }),
    },
    noteServerAlgorithm: {
      keys: () => [`setting:${ALGORITHM}`],
      run: eachAlone(async (query, algorithm: SigningAlgorithm) => {
        await query(NOTE, [ALGORITHM, algorithm])
        return 'noted' as const
      }),
    },
    noteClock: {
      keys: () => [`setting:${CLOCK_NOTE}`],
      run: eachAlone(async (query, note: Input<'noteClock'>) => {
        await query(NOTE, [CLOCK_NOTE, clockNoteValue(note)])
        return 'noted' as const
      }),
    },
    confirmClock: {
      keys: () => [`setting:${CLOCK_CONFIRMATION}`],
      run: eachAlone(async (query, { now }: Input<'confirmClock'>) => {
        await query(NOTE, [CLOCK_CONFIRMATION, String(now)])
        return 'confirmed' as const
      }),
    },
    insertSettingOnce: {
      keys: ({ name }) => [`setting:${name}`],
      run: eachAlone(async (query, { name, value }: Input<'insertSettingOnce'>) => {
        await query(INSERT_SETTING_ONCE, [name, value])
        const [row] = await query(FIND_SETTING, [name])
        return row?.['value'] as string
      }),
    },
  } satisfies Partial<Handlers>

  async function findSetting(name: string): Promise<string | undefined> {
    return (await database.query(FIND_SETTING, [name]))[0]?.['value'] as string | undefined
  }

  const reads = {
    async listApis(): Promise<readonly ApiRecord[]> {
      return (await database.query(LIST_APIS)).map((row) => apiOf(row))
    },
    listKeys: () => listKeys(database.query),
    findServerAlgorithm: async () => (await findSetting(ALGORITHM)) as SigningAlgorithm | undefined,
    findClockNotes: async () => clockNotesOf(await findSetting(CLOCK_NOTE), await findSetting(CLOCK_CONFIRMATION)),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

export async function listKeys(query: Query): Promise<readonly KeyRecord[]> {
  return (await query(LIST_KEYS)).map((row) => keyOf(row))
}
