import type { InitialTokenRecord } from '../../ports/records/initial-token.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { InitialTokenId } from '../../protocol/ids.ts'
import { INITIAL_TOKENS } from '../tables/client.ts'
import { change, idKey, listPage, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const CREATE = shared(`insert into initial_tokens (${INITIAL_TOKENS.names}) values (${INITIAL_TOKENS.parameters})`)
const FIND = shared('select * from initial_tokens where token_id = :id')

const USE = shared(
  `update initial_tokens set uses_left = uses_left - 1
   where token_id = :tokenId and uses_left > 0 and expires_at > :now and revoked_at is null returning token_id`,
)

/**
 * Counts a use of an initial access token, and returns whether it could be used. Its client is inserted in the same
 * transaction.
 */
export function* countTokenUse(use: { readonly tokenId: InitialTokenId; readonly now: EpochMs }): Steps<boolean> {
  return (yield* rows(USE, use)).length === 1
}

export const initialTokenHandlers = {
  createInitialToken: {
    keys: idKey,
    *run(token) {
      yield* rows(CREATE, INITIAL_TOKENS.values(token))
      return 'created'
    },
  },
  revokeInitialToken: {
    keys: idKey,
    run: change(
      'update initial_tokens set revoked_at = coalesce(revoked_at, :now) where token_id = :id returning token_id',
    ),
  },
} satisfies SharedHandlers

export const initialTokenReads = {
  *findInitialToken(id: InitialTokenId): Steps<InitialTokenRecord | undefined> {
    const [row] = yield* rows(FIND, { id })
    return row === undefined ? undefined : INITIAL_TOKENS.read(row)
  },
  listInitialTokens: listPage(
    INITIAL_TOKENS,
    'select * from initial_tokens where token_id < :before order by token_id desc limit :limit',
  ),
}
