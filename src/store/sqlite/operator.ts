import type { DatabaseSync } from 'node:sqlite'
import type { ApiRecord } from '../../ports/records/api.ts'
import type { KeyRecord, SigningAlgorithm } from '../../ports/records/key.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { ClockNotes } from '../../protocol/clock.ts'
import { slashVariant } from '../../protocol/resource.ts'
import { type Row } from '../rows.ts'
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
  noteOfNewestRow,
  scopesSinceValue,
} from '../operator-rows.ts'
import type { Handlers } from './handlers.ts'

/** Statements for what the operator configures (APIs) and what the server configures for itself (signing keys, settings). */
export function operatorStatements(database: DatabaseSync) {
  const declareApi = database.prepare(
    `insert into apis (name, scopes, token_format, token_lifetime, algorithm, jwt_type, resource, created_at)
     select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 where not exists (select 1 from apis where resource = ?9)
     on conflict (resource) do nothing`,
  )
  const updateApi = database.prepare(
    `update apis set scopes_since = ?, name = ?, scopes = ?, token_format = ?, token_lifetime = ?, algorithm = ?, jwt_type = ?
     where resource = ? and name is ? and scopes = ? and coalesce(token_format, 'jwt') = ? and token_lifetime is ?
       and algorithm is ? and coalesce(jwt_type, 'at+jwt') = ?`,
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
  const insertSettingOnce = database.prepare(
    'insert into settings (name, value) values (?, ?) on conflict (name) do nothing',
  )
  const setting = database.prepare('select value from settings where name = ?')
  const note = database.prepare(
    'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
  )
  const listKeys = keyLister(database)

  function findSetting(name: string): string | undefined {
    return (setting.get(name) as Row | undefined)?.['value'] as string | undefined
  }

  return {
    declareApi(api) {
      const { changes } = declareApi.run(...apiValues(api), api.createdAt, slashVariant(api.resource) ?? null)
      return changes === 1 ? 'declared' : 'taken'
    },
    updateApi: ({ previous, api }) =>
      updateApi.run(scopesSinceValue(api), ...apiValues(api), ...apiValues(previous).slice(0, -1)).changes === 1
        ? 'changed'
        : 'conflict',
    setApiCredentials: ({ resource, credentials: { id, secretHash } }) =>
      setCredentials.run(id, secretHash, resource).changes === 1 ? 'changed' : 'unknown',
    deleteApi: (resource) => (deleteApi.run(resource).changes === 1 ? 'deleted' : 'unknown'),
    addFirstKey(key) {
      addFirstKey.run(...keyValues(key))
      return firstKey(listKeys(), key.algorithm) ?? key
    },
    addKey: ({ key, follows }) => (addKey.run(...keyValues(key), follows).changes === 1 ? 'added' : 'conflict'),
    removeKey: ({ id, replacement }) => (removeKey.run(id, replacement).changes === 1 ? 'removed' : 'unknown'),
    noteServerAlgorithm(algorithm) {
      note.run(ALGORITHM, algorithm)
      return 'noted'
    },
    noteClock(clockNote) {
      note.run(CLOCK_NOTE, clockNoteValue(clockNote))
      return 'noted'
    },
    confirmClock({ now }) {
      note.run(CLOCK_CONFIRMATION, String(now))
      return 'confirmed'
    },
    insertSettingOnce({ name, value }) {
      insertSettingOnce.run(name, value)
      return (setting.get(name) as Row)['value'] as string
    },
    listApis: (): readonly ApiRecord[] => listApis.all().map((row) => apiOf(row as Row)),
    listKeys,
    findServerAlgorithm: () => findSetting(ALGORITHM) as SigningAlgorithm | undefined,
    findClockNotes: () => findClockNotes(database, findSetting),
  } satisfies Partial<Handlers> & Record<string, unknown>
}

/** Returns a function that lists all keys, oldest first. */
export function keyLister(database: DatabaseSync): () => readonly KeyRecord[] {
  const list = database.prepare('select * from signing_keys order by key_id')
  return () => list.all().map((row) => keyOf(row as Row))
}

/** Needs only the tables of the first migration. */
export function findClockNotes(database: DatabaseSync, findSetting: (name: string) => string | undefined): ClockNotes {
  const notes = clockNotesOf(findSetting(CLOCK_NOTE), findSetting(CLOCK_CONFIRMATION))
  return { ...notes, node: notes.node ?? noteOfNewestRow(findNewestRow(database)) }
}

/**
 * Returns when the newest row was made; undefined in an empty database. Ids are ordered by time, so it is the last row of
 * its table.
 */
function findNewestRow(database: DatabaseSync): EpochMs | undefined {
  const newest = database
    .prepare(
      `select max(at) as at from (
         select max(created_at) as at from signing_keys
         union all select created_at from (select created_at from users order by user_id desc limit 1)
         union all select created_at from (select created_at from grants order by grant_id desc limit 1)
         union all select created_at from (select created_at from sessions order by session_id desc limit 1)
         union all select issued_at * 1000 from (select issued_at from clients order by client_id desc limit 1))`,
    )
    .get() as Row
  return (newest['at'] ?? undefined) as EpochMs | undefined
}
