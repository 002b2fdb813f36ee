import type { DatabaseSync } from 'node:sqlite'
import type { ApiRecord, KeyRecord, SigningAlgorithm } from '../../ports/operator-records.ts'
import { findTwin } from '../../protocol/resource.ts'
import { type Row } from '../rows.ts'
import { apiOf, apiValues, firstKey, keyOf, keyValues } from '../operator-rows.ts'
import type { Handlers } from './handlers.ts'

/** What the operator sets up, and what the server sets up for itself: APIs, signing keys, settings. */
export function operatorStatements(database: DatabaseSync) {
  const declareApi = database.prepare(
    `insert into apis (name, scopes, token_format, token_lifetime, algorithm, resource, created_at)
     select ?1, ?2, ?3, ?4, ?5, ?6, ?7 where not exists (select 1 from apis where resource = ?8)
     on conflict (resource) do nothing`,
  )
  const updateApi = database.prepare(
    `update apis set name = ?, scopes = ?, token_format = ?, token_lifetime = ?, algorithm = ? where resource = ?
       and name is ? and scopes = ? and coalesce(token_format, 'jwt') = ? and token_lifetime is ? and algorithm is ?`,
  )
  const setCredentials = database.prepare('update apis set credential_id = ?, secret_hash = ? where resource = ?')
  const deleteApi = database.prepare('delete from apis where resource = ?')
  const listApis = database.prepare('select * from apis order by resource')
  const addFirstKey = database.prepare(
    `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from)
     select ?1, ?2, ?3, ?4, ?5, ?6 where not exists (select 1 from signing_keys where algorithm = ?2)`,
  )
  const addKey = database.prepare(
    `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from, follows)
     select ?1, ?2, ?3, ?4, ?5, ?6, ?7 from (
       select max(key_id) as newest from signing_keys
       where algorithm = (select algorithm from signing_keys where key_id = ?7))
     where newest = ?7 and newest < ?1
     on conflict (follows) do nothing`,
  )
  const removeKey = database.prepare(
    'delete from signing_keys where key_id = ? and exists (select 1 from signing_keys where key_id = ?)',
  )
  const settle = database.prepare('insert into settings (name, value) values (?, ?) on conflict (name) do nothing')
  const setting = database.prepare('select value from settings where name = ?')
  const noteAlgorithm = database.prepare(
    `insert into settings (name, value) values ('server-algorithm', ?)
     on conflict (name) do update set value = excluded.value`,
  )
  const findAlgorithm = database.prepare(`select value from settings where name = 'server-algorithm'`)
  const listKeys = keyLister(database)

  return {
    declareApi(api) {
      const { changes } = declareApi.run(...apiValues(api), api.createdAt, findTwin(api.resource) ?? null)
      return changes === 1 ? 'declared' : 'taken'
    },
    updateApi: ({ previous, api }) =>
      updateApi.run(...apiValues(api), ...apiValues(previous).slice(0, -1)).changes === 1 ? 'changed' : 'outrun',
    setApiCredentials: ({ resource, credentials: { id, secretHash } }) =>
      setCredentials.run(id, secretHash, resource).changes === 1 ? 'changed' : 'unknown',
    deleteApi: (resource) => (deleteApi.run(resource).changes === 1 ? 'deleted' : 'unknown'),
    addFirstKey(key) {
      addFirstKey.run(...keyValues(key))
      return firstKey(listKeys(), key.algorithm) ?? key
    },
    addKey: ({ key, follows }) => (addKey.run(...keyValues(key), follows).changes === 1 ? 'added' : 'outrun'),
    removeKey: ({ id, replacement }) => (removeKey.run(id, replacement).changes === 1 ? 'removed' : 'unknown'),
    noteServerAlgorithm(algorithm) {
      noteAlgorithm.run(algorithm)
      return 'noted'
    },
    settle({ name, value }) {
      settle.run(name, value)
      return (setting.get(name) as Row)['value'] as string
    },
    listApis: (): readonly ApiRecord[] => listApis.all().map((row) => apiOf(row as Row)),
    listKeys,
    findServerAlgorithm: () => (findAlgorithm.get() as Row | undefined)?.['value'] as SigningAlgorithm | undefined,
  } satisfies Partial<Handlers> & Record<string, unknown>
}

/** Answers every key, oldest first. */
export function keyLister(database: DatabaseSync): () => readonly KeyRecord[] {
  const list = database.prepare('select * from signing_keys order by key_id')
  return () => list.all().map((row) => keyOf(row as Row))
}
