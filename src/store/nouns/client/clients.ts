import { definedMembers, isObject } from '../../../base/json.ts'
import type { ClientFilter, ClientUse } from '../../../ports/operations/client.ts'
import type { ClientRecord } from '../../../ports/records/client.ts'
import type { Page, Reach } from '../../../ports/store.ts'
import { isGivenSecret } from '../../../protocol/client/authentication.ts'
import { CLIENT_MEMBERS, type ClientMetadata } from '../../../protocol/client/members.ts'
import { type ClientRules, DEFAULT_RULES } from '../../../protocol/client/policy.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { ClientId } from '../../../protocol/ids.ts'
import { differencesOfWords, idOf, type NounOperations, when } from '../../noun.ts'
import { endLaterOfClient } from '../token/not-before.ts'
import type { Value, Row } from '../../rows.ts'
import { change, idKey, listOf, outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, json, optionalGroup, optionalScope, table, text } from '../../table.ts'

/** `held_until` of a client that is never swept. */
export const HELD_FOR_EVER = Number.MAX_SAFE_INTEGER

/** A registration inserts some of the columns, in the batches of both stores. */
export const CLIENTS = table<ClientRecord>({
  id: text('client_id'),
  chosenId: text('chosen_id'),
  issuedAt: bigint('issued_at'),
  source: text('source'),
  rules: {
    columns: [{ name: 'rules', type: 'text', write: (rules) => JSON.stringify(rules) }],
    // A registration leaves the column out.
    read: ({ rules }) => (typeof rules === 'string' ? (JSON.parse(rules) as ClientRules) : DEFAULT_RULES),
  },
  document: optionalGroup('document_url', {
    url: text('document_url'),
    fetchedAt: bigint('document_fetched_at'),
    freshUntil: bigint('document_fresh_until'),
  }),
  initialToken: {
    columns: [
      { name: 'initial_token', type: 'text', write: (token) => (token === undefined ? null : JSON.stringify(token)) },
    ],
    read: (row) => initialTokenOf(row['initial_token']),
  },
  secretHash: text('secret_hash'),
  previousSecret: optionalGroup('previous_secret_hash', {
    hash: text('previous_secret_hash'),
    until: bigint('previous_secret_until'),
  }),
  managementHash: text('management_hash'),
  dedupeKey: text('shared_key'),
  metadata: json('metadata', undefined, restoreMetadata),
  usedAt: bigint('used_at'),
  verifiedAt: bigint('verified_at'),
  disabledAt: bigint('disabled_at'),
  identityFrom: bigint('identity_from'),
  approvedScope: optionalScope('approved_scope'),
  notBefore: bigint('not_before'),
  lastUsedAt: bigint('last_used_at'),
})

/** The rules in an event: the claim with groups by its name. */
function detailsOf({ groupClaim, ...rules }: ClientRules) {
  return groupClaim === undefined ? rules : { ...rules, groups: groupClaim.name }
}

/** The names in rows from before 0.1.0 that are not those of the wire in another case. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  token_endpoint_auth_method: 'authMethod',
  require_pushed_authorization_requests: 'parRequired',
  dpop_bound_access_tokens: 'dpopBound',
  id_token_signed_response_alg: 'idTokenAlgorithm',
}

/** Reads also what was stored before 0.1.0, until 0.2. Such metadata keep the text of their row, with which a change finds it. */
function restoreMetadata(stored: unknown): ClientMetadata {
  if (!isObject(stored) || !('redirectUris' in stored)) return stored as ClientMetadata
  const { keys, descriptive, ...others } = stored as Readonly<Record<string, object | undefined>>
  const { jwks, uri, algorithm } = (keys ?? {}) as Readonly<Record<string, unknown>>
  const joint = {
    ...descriptive,
    jwks: jwks && { keys: jwks },
    jwks_uri: uri,
    token_endpoint_auth_signing_alg: algorithm,
  }
  const had: Readonly<Record<string, unknown>> = { ...others, ...joint }
  const formerName = (name: string): string =>
    FORMER_NAMES[name] ?? name.replaceAll(/_./g, ([, letter = '']) => letter.toUpperCase())
  const named = Object.keys(CLIENT_MEMBERS).map((name) => [name, had[formerName(name)] ?? had[name]] as const)
  const metadata = definedMembers(Object.fromEntries(named)) as unknown as ClientMetadata
  return Object.defineProperty(metadata, 'toJSON', { value: () => stored })
}

/** On SQLite the number of a row follows from its id, unless another row has that number. */
const ROW = `(/*sqlite slot, */${CLIENTS.names}, held_until)
  values (/*sqlite iif(exists (select 1 from clients where slot = slot_of(:client_id)), null, slot_of(:client_id)), */${CLIENTS.parameters}, :heldUntil)`
export const INSERT = shared(`insert into clients ${ROW}`)
/** An id that is made of a document's URL, or that the operator chose, may be taken. */
const ADD = shared(`insert into clients ${ROW} on conflict (client_id) do nothing returning client_id`)

/** A client as it was when its change was checked. One that registered has no rules until they are set. */
const AS_READ = `source = :source and metadata = :previous and coalesce(rules, :noRules) = :previousRules`
const CHANGE = shared(
  `update clients set metadata = :metadata, identity_from = coalesce(cast(:identityFrom as bigint), identity_from)
   where client_id = :id and ${AS_READ} returning client_id`,
)
const SET_RULES = shared(`update clients set rules = :rules where client_id = :id and ${AS_READ} returning client_id`)
const FIND_SHARED_KEY = shared('select client_id, shared_key from clients where client_id = :id')
const ADOPT = shared(
  `update clients set source = 'operator', verified_at = coalesce(verified_at, :now), management_hash = null,
     shared_key = null, held_until = ${HELD_FOR_EVER}
   where client_id = :id and metadata = :previous and source = 'registration'
   returning client_id`,
)
/** Where the tables are not distributed, no shared key has a row. */
const RELEASE_SHARED_KEYS = shared(
  `delete from shared_clients where shared_key = any(string_to_array(:keys, ' ')) and client_id = any(string_to_array(:ids, ' '))`,
)
/** The condition on the rows of a `ClientFilter`, with the parameters of `membersOf`. */
export const MATCHES = `(cast(:source as text) is null or source = :source)
     and (cast(:isUsed as bigint) is null or case when used_at is null then 0 else 1 end = :isUsed)
     and (cast(:isVerified as bigint) is null or case when verified_at is null then 0 else 1 end = :isVerified)
     and (cast(:isDisabled as bigint) is null or case when disabled_at is null then 0 else 1 end = :isDisabled)
     and (cast(:unusedSince as bigint) is null or coalesce(last_used_at, used_at, 0) < :unusedSince)
     and (cast(:idleAt as bigint) is null or (source <> 'operator' and verified_at is null
       and coalesce(approved_scope, '') = '' and (disabled_at is null or document_url is null)
       and held_until < :idleAt and coalesce(pending_until, 0) < :idleAt))`
const LIST = shared(
  `select * from clients where client_id < :before and client_id >= :from and ${MATCHES} order by client_id desc limit :limit`,
)
const LIST_GROUP_READERS = shared(
  `select * from clients where source = 'operator' and rules like '%"groupClaim"%' and client_id < :before
   order by client_id desc limit :limit`,
)
const PURGE = shared(`delete from clients where client_id = :id and ${MATCHES} returning client_id, shared_key`)
const DELETE = shared('delete from clients where client_id = :id returning client_id, shared_key')
const REMOVE_INSTALLATIONS = shared(`delete from installations where client_id = any(string_to_array(:ids, ' '))`)
const INSTALLED = shared('select client_id from installations where client_id = :id limit 1')
const NOTE_USES = shared(
  `update clients set last_used_at = :at, held_until = greatest(held_until, :heldUntil)
   where client_id = any(string_to_array(:ids, ' ')) and coalesce(last_used_at, 0) < :at`,
)

const DISABLE = shared(
  `update clients set disabled_at = coalesce(disabled_at, :now), shared_key = null where client_id = :id
   returning client_id`,
)
const REVOKE_TOKENS = shared(
  'update clients set not_before = greatest(coalesce(not_before, 0), :now) where client_id = :id returning client_id',
)

/** What is rare. Registration without a token, and the first use of a client, are in the batches of each store. */
const APPROVE = shared('update clients set approved_scope = :scope where client_id = :id returning client_id')
const APPROVE_UNCHANGED = shared(
  `update clients set approved_scope = :scope
   where client_id = :id and coalesce(approved_scope, '') = :previous
     and identity_from is not distinct from cast(:identityFrom as bigint) returning client_id`,
)

/** What the operator and an administrator change of clients, and what counts for all of them. */
const operations = {
  createClient: {
    keys: idKey,
    // A chosen id may be that of a client that was deleted.
    cache: idOf,
    event: when('created', ({ id, chosenId, rules, about }) => {
      const words = differencesOfWords(undefined, rules.groupClaim)
      const own = { ...(chosenId !== undefined && { chosen_id: chosenId }), ...words }
      const details = Object.keys(own).length > 0 && { details: { ...own, ...about?.details } }
      return { event: 'client.created', clientId: id, ...details }
    }),
    *run(client) {
      return (yield* add(client, HELD_FOR_EVER)) ? 'created' : 'id-taken'
    },
  },
  deleteClient: {
    keys: idKey,
    cache: 'cleared',
    event: when('deleted', aboutClient('client.deleted')),
    *run(id) {
      const deleted = yield* rows(DELETE, { id })
      yield* endRemoved(deleted)
      return deleted.length === 1 ? 'deleted' : 'unknown'
    },
  },
  noteUses: {
    // At least one key is required, also for a list without clients.
    keys: (uses) => ['uses', ...uses.map(({ id }) => id)],
    isShared: true,
    // No decision depends on when a client was last used.
    cache: 'kept',
    event: 'no-event',
    *run(uses) {
      for (const used of Map.groupBy(uses, ({ at, heldUntil }) => `${at} ${heldUntil}`).values()) {
        const { at, heldUntil = 0 } = used[0] as ClientUse
        yield* rows(NOTE_USES, { at, heldUntil, ids: listOf(used.map(({ id }) => id)) })
      }
      return 'noted'
    },
  },
  changeClient: {
    keys: idKey,
    cache: idOf,
    event: when('changed', ({ id, identityFrom }) => ({
      event: 'client.updated',
      clientId: id,
      details: { identity_changed: identityFrom !== undefined },
    })),
    *run({ id, previous, rules, metadata, identityFrom }) {
      const texts = {
        metadata: JSON.stringify(metadata),
        ...textsOf({ source: 'operator', metadata: previous, rules }),
      }
      return (yield* rows(CHANGE, { id, ...texts, identityFrom })).length === 1 ? 'changed' : 'conflict'
    },
  },
  adoptClient: {
    keys: idKey,
    cache: idOf,
    event: when('adopted', aboutClient('client.adopted')),
    *run({ id, previous, now }) {
      const before = yield* rows(FIND_SHARED_KEY, { id })
      const adopted = yield* rows(ADOPT, { id, previous: JSON.stringify(previous), now })
      if (adopted.length === 0) return 'conflict'
      yield* releaseSharedKeys(before)
      return 'adopted'
    },
  },
  setClientRules: {
    keys: idKey,
    cache: idOf,
    event: when('changed', ({ id, rules, previous }) => ({
      event: 'client.rules-set',
      clientId: id,
      details: { ...detailsOf(rules), ...differencesOfWords(previous.rules.groupClaim, rules.groupClaim) },
    })),
    *run({ id, previous, rules }) {
      const texts = { rules: JSON.stringify(rules), ...textsOf(previous) }
      return (yield* rows(SET_RULES, { id, ...texts })).length === 1 ? 'changed' : 'conflict'
    },
  },
  purgeClient: {
    keys: idKey,
    // A remembered installation of a client that is gone has no effect.
    cache: idOf,
    event: when('deleted', ({ id, filter: { idleAt } }) => ({
      event: 'client.deleted',
      clientId: id,
      ...(idleAt === undefined ? {} : { details: { reason: 'idle' } }),
    })),
    *run({ id, filter }) {
      if (filter.idleAt !== undefined && (yield* rows(INSTALLED, { id })).length > 0) return 'kept'
      const deleted = yield* rows(PURGE, { id, ...membersOf(filter) })
      yield* endRemoved(deleted)
      return deleted.length === 1 ? 'deleted' : 'kept'
    },
  },
  verifyClient: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.verified')),
    run: change(
      'update clients set verified_at = coalesce(verified_at, :now) where client_id = :id returning client_id',
    ),
  },
  unverifyClient: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.unverified')),
    run: change('update clients set verified_at = null where client_id = :id returning client_id'),
  },
  disableClient: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.disabled')),
    *run({ id, now }) {
      yield* releaseSharedKeys(yield* rows(FIND_SHARED_KEY, { id }))
      return (yield* rows(DISABLE, { id, now })).length === 1 ? 'changed' : 'unknown'
    },
  },
  enableClient: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.enabled')),
    run: change('update clients set disabled_at = null where client_id = :id returning client_id'),
  },
  rotateClientSecret: {
    keys: idKey,
    cache: idOf,
    event: when('rotated', ({ id, secretHash }) => ({
      event: isGivenSecret(secretHash) ? 'client.secret-set' : 'client.secret-rotated',
      clientId: id,
    })),
    run: outcomeOf(
      `update clients set previous_secret_hash = :kept, previous_secret_until = :keptUntil, secret_hash = :secretHash
       where client_id = :id and secret_hash = :previous returning client_id`,
      'rotated',
      'conflict',
    ),
  },
  upgradeClientSecret: {
    keys: idKey,
    cache: idOf,
    event: when('changed', ({ id, format }) => ({
      event: 'client.secret-upgraded',
      clientId: id,
      details: { format },
    })),
    run: change(
      `update clients set secret_hash = case when secret_hash = :previous then :secretHash else secret_hash end,
         previous_secret_hash =
           case when previous_secret_hash = :previous then :secretHash else previous_secret_hash end
       where client_id = :id and (secret_hash = :previous or previous_secret_hash = :previous) returning client_id`,
    ),
  },
  approveClientScope: {
    keys: idKey,
    cache: idOf,
    event: when('changed', ({ id, scope }) => ({
      event: 'client.scope-approved',
      clientId: id,
      details: { scope },
    })),
    *run({ id, scope, previous }) {
      const before = previous && { previous: previous.approvedScope, identityFrom: previous.identityFrom }
      const changed = yield* before === undefined
        ? rows(APPROVE, { id, scope })
        : rows(APPROVE_UNCHANGED, { id, scope, ...before })
      if (changed.length === 1) return 'changed'
      return previous === undefined ? 'unknown' : 'conflict'
    },
  },
  revokeClientTokens: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.tokens-revoked')),
    *run({ id, now }) {
      if ((yield* rows(REVOKE_TOKENS, { id, now })).length === 0) return 'unknown'
      yield* endLaterOfClient(id, now)
      return 'changed'
    },
  },
} satisfies NounOperations

const reads = {
  *listClients({
    before,
    from = '' as ClientId,
    limit,
    ...filter
  }: Page<ClientId> & Partial<Reach<ClientId>> & ClientFilter): Steps<readonly ClientRecord[]> {
    return (yield* rows(LIST, { before: before ?? '~', from, limit, ...membersOf(filter) })).map(CLIENTS.read)
  },
  *listGroupReaders({ before = '~' as ClientId, limit }: Page<ClientId>): Steps<readonly ClientRecord[]> {
    return (yield* rows(LIST_GROUP_READERS, { before, limit })).map(CLIENTS.read)
  },
}

export const clients = { operations, reads }

/** JSON leaves out members that are undefined. */
function initialTokenOf(stored: Value | undefined): ClientRecord['initialToken'] {
  if (typeof stored !== 'string') return undefined
  const { id, scope: most, redirectHosts } = JSON.parse(stored) as NonNullable<ClientRecord['initialToken']>
  return { id, scope: most, redirectHosts }
}

export function membersOf({ source, isUsed, isVerified, isDisabled, unusedSince, idleAt }: ClientFilter): object {
  return { source, isUsed, isVerified, isDisabled, unusedSince, idleAt }
}

/** The parameters of `AS_READ`. */
function textsOf({ source, metadata, rules }: Pick<ClientRecord, 'metadata' | 'rules' | 'source'>): object {
  return {
    source,
    previous: JSON.stringify(metadata),
    previousRules: JSON.stringify(rules),
    noRules: JSON.stringify(DEFAULT_RULES),
  }
}

/** Returns whether the id was free. */
export function* add(client: ClientRecord, heldUntil: number): Steps<boolean> {
  return (yield* rows(ADD, { ...CLIENTS.values(client), heldUntil })).length === 1
}

/** Ends what belongs to clients that were removed, given as rows with `client_id` and `shared_key`. */
export function* endRemoved(removed: readonly Row[]): Steps<void> {
  if (removed.length === 0) return
  yield* releaseSharedKeys(removed)
  yield* rows(REMOVE_INSTALLATIONS, { ids: listOf(removed.map((row) => row['client_id'] as string)) })
}

function* releaseSharedKeys(removed: readonly Row[]): Steps<void> {
  const sharing = removed.filter((row) => row['shared_key'] !== null)
  const texts = (column: string) => listOf(sharing.map((row) => row[column] as string))
  if (sharing.length > 0) yield* rows(RELEASE_SHARED_KEYS, { keys: texts('shared_key'), ids: texts('client_id') })
}

/** An event about one client. */
export function aboutClient(event: AuditEventName) {
  return (input: ClientId | { readonly id: ClientId }): AuditEvent => ({ event, clientId: idOf(input) })
}
