import type { ApiRecord, KeyRecord } from '../../ports/records.ts'
import type { Input, Reads } from '../../ports/store.ts'
import { apiOf, keyOf, keyValues } from '../rows.ts'
import type { Database, Query } from './database.ts'
import { eachAlone, type Handlers } from './handlers.ts'

const DECLARE_API = {
  name: 'declare-api',
  text: `insert into apis (resource, name, scopes, created_at) values ($1, $2, $3, $4)
    on conflict (resource) do nothing returning resource`,
}
const SET_CREDENTIALS = {
  name: 'set-api-credentials',
  text: 'update apis set credential_id = $1, secret_hash = $2 where resource = $3 returning resource',
}
const DELETE_API = { name: 'delete-api', text: 'delete from apis where resource = $1 returning resource' }
const LIST_APIS = { name: 'list-apis', text: 'select * from apis order by resource' }
/** Of nodes that start at once one wins the setting, and the others wait for its key. */
const ADD_FIRST_KEY = {
  name: 'add-first-key',
  text: `with won as (
      insert into settings (name, value) values ('first-key', $1) on conflict (name) do nothing returning name)
    insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from)
    select $1, $2, $3, $4, $5, $6 from won`,
}
/** Of nodes that see the same newest key one adds the next: a key has one successor. */
const ADD_KEY = {
  name: 'add-key',
  text: `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from, follows)
    select $1, $2, $3, $4, $5, $6, $7 from (select max(key_id) as newest from signing_keys) as known
    where newest = $7 and newest < $1
    on conflict (follows) do nothing returning key_id`,
}
const REMOVE_KEY = {
  name: 'remove-key',
  text: `delete from signing_keys where key_id = $1 and exists (select 1 from signing_keys where key_id = $2)
    returning key_id`,
}
const LIST_KEYS = { name: 'list-keys', text: 'select * from signing_keys order by key_id' }
const SETTLE = {
  name: 'settle',
  text: 'insert into settings (name, value) values ($1, $2) on conflict (name) do nothing',
}
const FIND_SETTING = { name: 'find-setting', text: 'select value from settings where name = $1' }

/** What the operator sets up, and what the server sets up for itself: APIs, signing keys, settings. */
export function operatorStatements(database: Database) {
  const handlers = {
    declareApi: {
      keys: ({ resource }) => [resource],
      run: eachAlone(async (query, { resource, name, scopes, createdAt }: Input<'declareApi'>) => {
        const rows = await query(DECLARE_API, [resource, name ?? null, JSON.stringify(scopes), createdAt])
        return rows.length === 1 ? 'declared' : 'taken'
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
        await query(ADD_FIRST_KEY, keyValues(key))
        return (await listKeys(query))[0] ?? key
      }),
    },
    addKey: {
      keys: () => ['signing-keys'],
      run: eachAlone(async (query, { key, follows }: Input<'addKey'>) => {
        const rows = await query(ADD_KEY, [...keyValues(key), follows])
        return rows.length === 1 ? 'added' : 'outrun'
      }),
    },
    removeKey: {
      keys: () => ['signing-keys'],
      run: eachAlone(async (query, { id, replacement }: Input<'removeKey'>) => {
        const rows = await query(REMOVE_KEY, [id, replacement])
        return rows.length === 1 ? 'removed' : 'unknown'
      }),
    },
    settle: {
      keys: ({ name }) => [`setting:${name}`],
      run: eachAlone(async (query, { name, value }: Input<'settle'>) => {
        await query(SETTLE, [name, value])
        const [row] = await query(FIND_SETTING, [name])
        return row?.['value'] as string
      }),
    },
  } satisfies Partial<Handlers>
  const reads = {
    async listApis(): Promise<readonly ApiRecord[]> {
      return (await database.query(LIST_APIS)).map((row) => apiOf(row))
    },
    listKeys: () => listKeys(database.query),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

export async function listKeys(query: Query): Promise<readonly KeyRecord[]> {
  return (await query(LIST_KEYS)).map((row) => keyOf(row))
}
