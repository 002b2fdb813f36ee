import type { GrantSlice, SweepSlice, SweptSlice } from '../../../ports/operations/server.ts'
import type { ClientId, UserId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import { idBefore } from '../../rows.ts'
import { forgetNothing, listOf, lookFor, rows, shared, type Forget, type Steps } from '../../shared/statement.ts'

const GRANT_SLICE = shared('select grant_id from grants where grant_id > :after order by grant_id limit :limit')
/** A grant is kept while its code may be valid: the code could be redeemed again without it. */
const IS_OVER = `grant_id > :after and grant_id <= :last and grant_id < :before
  and (expires_at < :now or idle_expires_at < :now)`
const GRANTS = shared(`delete from grants where ${lookFor('grants', IS_OVER)} returning grant_id, user_id`)

const CONSENT_SLICE = shared(
  `select user_id, client_id from consents where (user_id, client_id) > (:afterUser, :afterClient)
   order by user_id, client_id limit :limit`,
)
const KNOWN_CLIENTS = shared(`select client_id from clients where client_id = any(string_to_array(:ids, ' '))`)
/** None of the clients exists, so it removes no consent of another one. */
const CONSENTS = shared(
  `delete from consents where user_id = any(string_to_array(:users, ' ')) and client_id = any(string_to_array(:clients, ' '))
   returning user_id`,
)

/** What no index finds: the sweep examines all rows, slice by slice, in the order of their key. */
const operations = {
  sweepGrants: {
    keys: () => ['sweep'],
    cache: 'kept',
    event: 'no-event',
    run: (slice) => sweepGrants(slice, forgetNothing),
  },
  sweepConsents: {
    keys: () => ['sweep'],
    cache: 'kept',
    event: 'no-event',
    run: sweepConsents,
  },
} satisfies NounOperations

export const examinedRows = { operations }

/** Removes the grants of a slice that are over. `forget`: runs with the removed rows. */
export function* sweepGrants({ after, before, limit, now }: GrantSlice, forget: Forget): Steps<SweptSlice> {
  const slice = yield* rows(GRANT_SLICE, { after, limit })
  const last = slice.at(-1)?.['grant_id'] as string | undefined
  if (last === undefined) return { removed: 0, examined: 0, next: '' }
  const removed = yield* rows(GRANTS, { after, last, now, before: idBefore(before, '') })
  yield* forget('grants', removed)
  return { removed: removed.length, examined: slice.length, next: slice.length < limit ? '' : last }
}

/** A slice starts after a user and a client. */
function* sweepConsents({ after, limit }: SweepSlice): Steps<SweptSlice> {
  const [afterUser = '', afterClient = ''] = after.split(' ')
  const slice = yield* rows(CONSENT_SLICE, { afterUser, afterClient, limit })
  const last = slice.length < limit ? undefined : slice.at(-1)
  const next = last === undefined ? '' : `${last['user_id']} ${last['client_id']}`
  const ids = listOf([...new Set(slice.map((row) => row['client_id'] as ClientId))])
  const known = new Set((slice.length === 0 ? [] : yield* rows(KNOWN_CLIENTS, { ids })).map((row) => row['client_id']))
  const gone = slice.filter((row) => !known.has(row['client_id'] ?? ''))
  if (gone.length === 0) return { removed: 0, examined: slice.length, next }
  const users = listOf(gone.map((row) => row['user_id'] as UserId))
  const clients = listOf(gone.map((row) => row['client_id'] as ClientId))
  return { removed: (yield* rows(CONSENTS, { users, clients })).length, examined: slice.length, next }
}
