import type { DatabaseSync } from 'node:sqlite'
import type { ApiRecord, KeyRecord } from '../../ports/records.ts'
import { apiOf, keyOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

/** What the operator sets up, and what the server sets up for itself: APIs, signing keys, settings. */
export function operatorStatements(database: DatabaseSync) {
  const declareApi = database.prepare(
    `insert into apis (resource, name, scopes, created_at) values (?, ?, ?, ?) on conflict (resource) do nothing`,
  )
  const setCredentials = database.prepare('update apis set credential_id = ?, secret_hash = ? where resource = ?')
  const deleteApi = database.prepare('delete from apis where resource = ?')
  const listApis = database.prepare('select * from apis order by resource')
  const addKey = database.prepare(
    `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at)
     select ?, ?, ?, ?, ? where not exists (select 1 from signing_keys)`,
  )
  const listKeys = database.prepare('select * from signing_keys order by key_id')
  const settle = database.prepare('insert into settings (name, value) values (?, ?) on conflict (name) do nothing')
  const setting = database.prepare('select value from settings where name = ?')

  function keys(): readonly KeyRecord[] {
    return listKeys.all().map((row) => keyOf(row as Row))
  }

  return {
    declareApi({ resource, name, scopes, createdAt }) {
      const { changes } = declareApi.run(resource, name ?? null, JSON.stringify(scopes), createdAt)
      return changes === 1 ? 'declared' : 'taken'
    },
    setApiCredentials: ({ resource, credentials: { id, secretHash } }) =>
      setCredentials.run(id, secretHash, resource).changes === 1 ? 'changed' : 'unknown',
    deleteApi: (resource) => (deleteApi.run(resource).changes === 1 ? 'deleted' : 'unknown'),
    addFirstKey(key) {
      addKey.run(key.id, key.algorithm, key.publicJwk, key.encryptedPrivateKey, key.createdAt)
      return keys()[0] ?? key
    },
    settle({ name, value }) {
      settle.run(name, value)
      return (setting.get(name) as Row)['value'] as string
    },
    listApis: (): readonly ApiRecord[] => listApis.all().map((row) => apiOf(row as Row)),
    listKeys: keys,
  } satisfies Partial<Handlers> & Record<string, unknown>
}
