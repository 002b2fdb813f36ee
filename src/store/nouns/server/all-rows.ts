import type { ListSlice, SearchedList } from '../../../ports/store.ts'
import type {
  OldestClient,
  OldestClients,
  OldestClientsFound,
  Walk,
  WalkedClients,
  WalkedGrants,
  WalkedUsers,
} from '../../../ports/walks.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { ClientId } from '../../../protocol/ids.ts'
import { CLIENTS as CLIENTS_TABLE, MATCHES, membersOf } from '../client/clients.ts'
import { findSearchMarks } from '../user/user-search.ts'
import type { Row } from '../../rows.ts'
import { rows, shared, type SharedStatement, type Steps } from '../../shared/statement.ts'

const GRANTS = shared(
  `select count(*) as seen, max(grant_id) as last,
     count(case when revoked_at is null and expires_at > :now and coalesce(idle_expires_at, expires_at) > :now then 1 end) as live
   from (select grant_id, revoked_at, expires_at, idle_expires_at from grants where grant_id > :after order by grant_id limit :limit)
     as slice`,
)
const CLIENTS = shared(
  `select count(*) as seen, max(client_id) as last, count(disabled_at) as disabled,
     count(case when disabled_at is null then used_at end) as used
   from (select client_id, used_at, disabled_at from clients where client_id > :after order by client_id limit :limit) as slice`,
)

const USERS = shared(
  `select count(*) as seen, max(user_id) as last, count(disabled_at) as disabled,
     count(case when disabled_at is null and coalesce(first_signed_in_at, -1) = -1 then 1 end) as unused,
     count(case when user_id between cast(:oldest as text) and cast(:newest as text) then 1 end) as indexed
   from (select user_id, first_signed_in_at, disabled_at from users where user_id > :after order by user_id limit :limit) as slice`,
)

const OLDEST_CLIENTS = shared(
  `select count(*) as seen, max(client_id) as last
   from (select client_id from clients where client_id > :after order by client_id limit :size) as slice`,
)
const MATCHING_CLIENTS = shared(
  `select * from clients where client_id > :after and client_id <= :last and ${MATCHES} order by client_id`,
)

const ENDS: Readonly<Record<SearchedList, SharedStatement>> = {
  clients: endOf('clients', 'client_id'),
  grants: endOf('grants', 'grant_id'),
  audit: endOf('audit_links', 'link_id'),
}

const reads = {
  *walkGrants(walk: Walk): Steps<WalkedGrants> {
    const [row = {}] = yield* rows(GRANTS, walk)
    const live = Number(row['live'])
    return { next: nextOf(row, walk.limit), live, over: Number(row['seen']) - live }
  },
  *walkClients(walk: Walk): Steps<WalkedClients> {
    const [row = {}] = yield* rows(CLIENTS, walk)
    const disabled = Number(row['disabled'])
    const used = Number(row['used'])
    return { next: nextOf(row, walk.limit), disabled, used, unused: Number(row['seen']) - disabled - used }
  },
  *walkUsers(walk: Walk): Steps<WalkedUsers> {
    const [row = {}] = yield* rows(USERS, { ...walk, ...(yield* findSearchMarks()) })
    const disabled = Number(row['disabled'])
    const unused = Number(row['unused'])
    const used = Number(row['seen']) - disabled - unused
    return { next: nextOf(row, walk.limit), disabled, used, unused, indexed: Number(row['indexed']) }
  },
  *listOldestClients({ after = '' as ClientId, size, ...filter }: OldestClients): Steps<OldestClientsFound> {
    const [slice] = yield* rows(OLDEST_CLIENTS, { after, size })
    const examined = Number(slice?.['seen'])
    const last = (slice?.['last'] ?? undefined) as ClientId | undefined
    const found = last === undefined ? [] : yield* rows(MATCHING_CLIENTS, { after, last, ...membersOf(filter) })
    return { clients: found.map(readOldest), examined, next: examined < size ? undefined : last }
  },
  /** An index has all ids, so no row is read. */
  *findListEnd({ list, before, size }: ListSlice): Steps<string | undefined> {
    const [row] = yield* rows(ENDS[list], { before: before ?? '~', size })
    return (row?.['last'] ?? undefined) as string | undefined
  },
}

export const allRows = { reads }

function readOldest(row: Row): OldestClient {
  const [heldUntil, pendingUntil] = [row['held_until'], row['pending_until']].map(Number)
  return { ...CLIENTS_TABLE.read(row), heldUntil: heldUntil as EpochMs, pendingUntil: pendingUntil as EpochMs }
}

function endOf(table: string, key: string): SharedStatement {
  return shared(
    `select min(${key}) as last from (select ${key} from ${table} where ${key} < :before order by ${key} desc limit :size) as slice`,
  )
}

/** A slice with fewer rows than the limit was the last one. */
function nextOf(row: Row, limit: number): string {
  return Number(row['seen']) < limit ? '' : String(row['last'])
}
