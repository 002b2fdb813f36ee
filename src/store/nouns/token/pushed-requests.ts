import type { PushedRequestRecord } from '../../../ports/records/authorization.ts'
import type { NounOperations } from '../../noun.ts'
import { findBy, idKey, rows, shared } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

const PUSHED_REQUESTS = table<PushedRequestRecord>({
  id: text('request_id'),
  clientId: text('client_id'),
  parameters: text('parameters'),
  usedBy: text('used_by'),
  expiresAt: bigint('expires_at'),
  keptUntil: bigint('kept_until'),
})

const PUSH = shared(`insert into pushed_requests (${PUSHED_REQUESTS.names}) values (${PUSHED_REQUESTS.parameters})`)
const USE = shared(
  `update pushed_requests set used_by = :authorizationId
   where request_id = :id and kept_until > :now and (used_by is null or used_by = :authorizationId) returning request_id`,
)
const find = findBy(PUSHED_REQUESTS, shared('select * from pushed_requests where request_id = :id'))

const operations = {
  pushRequest: {
    keys: idKey,
    cache: 'kept',
    event: 'no-event',
    *run(pushed) {
      yield* rows(PUSH, PUSHED_REQUESTS.values(pushed))
      return 'pushed'
    },
  },
  usePushedRequest: {
    keys: idKey,
    cache: 'kept',
    event: 'no-event',
    *run(use) {
      if ((yield* rows(USE, use)).length === 1) return 'used'
      return ((yield* find(use.id))?.keptUntil ?? 0) > use.now ? 'taken' : 'unknown'
    },
  },
} satisfies NounOperations

const reads = {
  findPushedRequest: find,
}

export const pushedRequests = { operations, reads }
