import type { EpochMs } from '../../../base/brand.ts'
import type { AuthorizationRecord } from '../../../ports/records/authorization.ts'
import type { OpenCodes } from '../../../ports/store.ts'
import type { AuthorizationId } from '../../../protocol/ids.ts'
import { authorizationOf, idBefore } from '../../rows.ts'
import { eachOf, idKey, rows, shared, type SharedHandlers, type Steps } from '../statement.ts'

/**
 * A code was redeemed exactly if a grant has the id of its authorization (decision 0032). Both rows are on one shard. A statement that
 * waits for the lock of a redemption does not look again, but the next one sees the grant.
 */
export const NOT_REDEEMED = 'not exists (select 1 from grants where grant_id = authorization_id)'

const OF_CODE = `authorization_id = :id and code_hash = :codeHash and status = 'approved' and expires_at > :now`
/** Changes nothing, and waits for a redemption. */
const HOLD = shared(`update authorizations set status = status where ${OF_CODE} returning authorization_id`)
const BURN = shared(
  `update authorizations set status = 'burned' where ${OF_CODE} and ${NOT_REDEEMED} returning authorization_id`,
)

const DENY = shared(
  `update authorizations set status = 'denied'
   where authorization_id = :id and status = 'pending' and expires_at > :now returning authorization_id`,
)
const FIND_STATE = shared('select status, expires_at from authorizations where authorization_id = :id')

const OPEN = `user_id = :userId and authorization_id >= :startedAfter and status = 'approved' and expires_at > :now
     and ${NOT_REDEEMED}`
const LIST_OPEN = shared(
  `select * from authorizations where ${eachOf('authorizations', OPEN, 'startedAfter')}
   order by authorization_id desc limit :limit`,
)

export const codeHandlers = {
  denyAuthorization: {
    keys: idKey,
    *run({ id, now }) {
      return (yield* rows(DENY, { id, now })).length === 1 ? 'denied' : yield* whyNotPending(id, now)
    },
  },
  burnCode: {
    keys: idKey,
    *run({ id, codeHash, now }) {
      const code = { id, codeHash, now }
      if ((yield* rows(HOLD, code)).length === 0) return 'spent'
      return (yield* rows(BURN, code)).length === 1 ? 'burned' : 'spent'
    },
  },
} satisfies SharedHandlers

export const codeReads = {
  *listOpenCodes({ userId, now, codesSince, limit }: OpenCodes): Steps<readonly AuthorizationRecord[]> {
    const parameters = { userId, now, startedAfter: idBefore(codesSince, ''), limit }
    return (yield* rows(LIST_OPEN, parameters)).map(authorizationOf)
  },
}

/** Why an authorization was not pending: the user decided before, or it does not exist or has expired. */
export function* whyNotPending(id: AuthorizationId, now: EpochMs): Steps<'decided' | 'unknown'> {
  const [row] = yield* rows(FIND_STATE, { id })
  const isGone = row === undefined || (row['status'] === 'pending' && (row['expires_at'] as number) <= now)
  return isGone ? 'unknown' : 'decided'
}
