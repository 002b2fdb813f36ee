import type { ApiRecord } from '../../ports/records/api.ts'
import type { KeyRecord, SigningAlgorithm } from '../../ports/records/key.ts'
import type { AdminCredentialRecord } from '../../ports/records/admin.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { ClockNotes } from '../../protocol/clock.ts'
import type { AdminCredentialId } from '../../protocol/ids.ts'
import { slashVariant } from '../../protocol/resource.ts'
import { ADMIN_CREDENTIALS, API_CHANGES, API_DEFINITIONS, APIS, SIGNING_KEYS } from '../operator-tables.ts'
import {
  ALGORITHM,
  CLOCK_CONFIRMATION,
  CLOCK_NOTE,
  clockNotesOf,
  clockNoteValue,
  LAST_BACKUP,
  timeOf,
} from '../settings.ts'
import { assignments, isUnchanged, previousValues } from '../table.ts'
import { change, idKey, listPage, outcome, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const DECLARE_API = shared(
  `insert into apis (${APIS.names}) select ${APIS.parameters}
   where not exists (select 1 from apis where resource = :variant)
   on conflict (resource) do nothing returning resource`,
)
const UPDATE_API = shared(
  `update apis set ${assignments(API_CHANGES)}
   where resource = :resource and ${isUnchanged(API_DEFINITIONS)} returning resource`,
)
const SET_CREDENTIALS = shared(
  'update apis set credential_id = :id, secret_hash = :secretHash where resource = :resource returning resource',
)
const LIST_APIS = shared('select * from apis order by resource')
/** Of nodes that see the same newest key of an algorithm only one adds the next: a key has one successor. */
const ADD_KEY = shared(
  `insert into signing_keys (${SIGNING_KEYS.names}, follows) select ${SIGNING_KEYS.parameters}, :follows from (
     select max(key_id) as newest from signing_keys
     where algorithm = (select algorithm from signing_keys where key_id = :follows)) as known
   where newest = :follows and newest < :key_id
   on conflict (follows) do nothing returning key_id`,
)
const LIST_KEYS = shared('select * from signing_keys order by key_id')
const NOTE = shared(
  'insert into settings (name, value) values (:name, :value) on conflict (name) do update set value = excluded.value',
)
const INSERT_SETTING_ONCE = shared(
  'insert into settings (name, value) values (:name, :value) on conflict (name) do nothing',
)
const FIND_SETTING = shared('select value from settings where name = :name')
const CREATE_CREDENTIAL = shared(
  `insert into admin_credentials (${ADMIN_CREDENTIALS.names}) values (${ADMIN_CREDENTIALS.parameters})`,
)
const FIND_CREDENTIAL = shared('select * from admin_credentials where credential_id = :id')

/** What the operator configures (APIs, administrators' credentials), and what the server does for itself (keys, settings). */
export const operatorHandlers = {
  declareApi: {
    keys: ({ resource }) => [resource, slashVariant(resource) ?? []].flat(),
    *run(api) {
      const values = APIS.values({ ...api, credentials: undefined, scopesSince: new Map() })
      const declared = yield* rows(DECLARE_API, { ...values, variant: slashVariant(api.resource) })
      return declared.length === 1 ? 'declared' : 'taken'
    },
  },
  updateApi: {
    keys: ({ api }) => [api.resource],
    *run({ previous, api }) {
      const [changes, before] = [API_CHANGES.values(api), previousValues(API_DEFINITIONS, previous)]
      const changed = yield* rows(UPDATE_API, { resource: api.resource, ...changes, ...before })
      return changed.length === 1 ? 'changed' : 'conflict'
    },
  },
  setApiCredentials: {
    keys: ({ resource }) => [resource],
    *run({ resource, credentials }) {
      return (yield* rows(SET_CREDENTIALS, { resource, ...credentials })).length === 1 ? 'changed' : 'unknown'
    },
  },
  deleteApi: {
    keys: idKey,
    run: outcome('delete from apis where resource = :id returning resource', 'deleted', 'unknown'),
  },
  addKey: {
    keys: () => ['signing-keys'],
    *run({ key, follows }) {
      return (yield* rows(ADD_KEY, { ...SIGNING_KEYS.values(key), follows })).length === 1 ? 'added' : 'conflict'
    },
  },
  removeKey: {
    keys: () => ['signing-keys'],
    run: outcome(
      `delete from signing_keys where key_id = :id and exists (select 1 from signing_keys where key_id = :replacement)
       returning key_id`,
      'removed',
      'unknown',
    ),
  },
  noteServerAlgorithm: {
    keys: () => [`setting:${ALGORITHM}`],
    *run(algorithm) {
      yield* setting(ALGORITHM, algorithm)
      return 'noted'
    },
  },
  noteClock: {
    keys: () => [`setting:${CLOCK_NOTE}`],
    *run(note) {
      yield* setting(CLOCK_NOTE, clockNoteValue(note))
      return 'noted'
    },
  },
  confirmClock: {
    keys: () => [`setting:${CLOCK_CONFIRMATION}`],
    *run({ now }) {
      yield* setting(CLOCK_CONFIRMATION, String(now))
      return 'confirmed'
    },
  },
  insertSettingOnce: {
    keys: ({ name }) => [`setting:${name}`],
    *run(wanted) {
      yield* rows(INSERT_SETTING_ONCE, wanted)
      return (yield* findSetting(wanted.name)) as string
    },
  },
  replaceSetting: {
    keys: ({ name }) => [`setting:${name}`],
    *run({ name, value }) {
      yield* setting(name, value)
      return 'replaced'
    },
  },
  createAdminCredential: {
    keys: idKey,
    *run(credential) {
      yield* rows(CREATE_CREDENTIAL, ADMIN_CREDENTIALS.values(credential))
      return 'created'
    },
  },
  revokeAdminCredential: {
    keys: idKey,
    run: change(
      `update admin_credentials set revoked_at = coalesce(revoked_at, :now) where credential_id = :id
       returning credential_id`,
    ),
  },
} satisfies SharedHandlers

export const operatorReads = {
  *listApis(): Steps<readonly ApiRecord[]> {
    return (yield* rows(LIST_APIS)).map(APIS.read)
  },
  *listKeys(): Steps<readonly KeyRecord[]> {
    return (yield* rows(LIST_KEYS)).map(SIGNING_KEYS.read)
  },
  *findServerAlgorithm(): Steps<SigningAlgorithm | undefined> {
    return (yield* findSetting(ALGORITHM)) as SigningAlgorithm | undefined
  },
  *findClockNotes(): Steps<ClockNotes> {
    return clockNotesOf(yield* findSetting(CLOCK_NOTE), yield* findSetting(CLOCK_CONFIRMATION))
  },
  *findLastBackup(): Steps<EpochMs | undefined> {
    return timeOf(yield* findSetting(LAST_BACKUP))
  },
  *findAdminCredential(id: AdminCredentialId): Steps<AdminCredentialRecord | undefined> {
    const [row] = yield* rows(FIND_CREDENTIAL, { id })
    return row === undefined ? undefined : ADMIN_CREDENTIALS.read(row)
  },
  listAdminCredentials: listPage(
    ADMIN_CREDENTIALS,
    'select * from admin_credentials where credential_id < :before order by credential_id desc limit :limit',
  ),
}

/** Replaces a setting. */
export function* setting(name: string, value: string): Steps<void> {
  yield* rows(NOTE, { name, value })
}

export function* findSetting(name: string): Steps<string | undefined> {
  return (yield* rows(FIND_SETTING, { name }))[0]?.['value'] as string | undefined
}
