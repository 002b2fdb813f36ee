import type { PushedRequestRecord } from '../../../ports/records/authorization.ts'
import type { PushedRequestId } from '../../../protocol/ids.ts'
import { PUSHED_REQUESTS } from '../../tables/token.ts'
import { idKey, rows, shared, type SharedHandlers, type Steps } from '../statement.ts'

const PUSH = shared(`insert into pushed_requests (${PUSHED_REQUESTS.names}) values (${PUSHED_REQUESTS.parameters})`)
const USE = shared(
  `update pushed_requests set used_by = :authorizationId
   where request_id = :id and kept_until > :now and (used_by is null or used_by = :authorizationId) returning request_id`,
)
const FIND = shared('select * from pushed_requests where request_id = :id')

export const pushedRequestHandlers = {
  pushRequest: {
    keys: idKey,
    *run(pushed) {
      yield* rows(PUSH, PUSHED_REQUESTS.values(pushed))
      return 'pushed'
    },
  },
  usePushedRequest: {
    keys: idKey,
    *run(use) {
      if ((yield* rows(USE, use)).length === 1) return 'used'
      return ((yield* find(use.id))?.keptUntil ?? 0) > use.now ? 'taken' : 'unknown'
    },
  },
} satisfies SharedHandlers

export const pushedRequestReads = { findPushedRequest: find }

function* find(id: PushedRequestId): Steps<PushedRequestRecord | undefined> {
  const [row] = yield* rows(FIND, { id })
  return row === undefined ? undefined : PUSHED_REQUESTS.read(row)
}
