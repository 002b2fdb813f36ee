import type { InitialTokenRecord } from '../../../ports/records/initial-token.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { DEFAULT_TEMPLATE, type RegistrationTemplate } from '../../../protocol/client/registration-template.ts'
import type { InitialTokenId } from '../../../protocol/ids.ts'
import { type NounOperations, when } from '../../noun.ts'
import { change, findBy, idKey, listPage, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, json, table, text } from '../../table.ts'

const INITIAL_TOKENS = table<InitialTokenRecord>({
  id: text('token_id'),
  name: text('name'),
  secretHash: text('token_hash'),
  template: json<RegistrationTemplate>('template', undefined, (stored) => ({
    ...DEFAULT_TEMPLATE,
    ...(stored as object),
  })),
  uses: bigint('uses'),
  usesLeft: bigint('uses_left'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
})

const CREATE = shared(`insert into initial_tokens (${INITIAL_TOKENS.names}) values (${INITIAL_TOKENS.parameters})`)
const FIND = shared('select * from initial_tokens where token_id = :id')

const USE = shared(
  `update initial_tokens set uses_left = uses_left - 1
   where token_id = :tokenId and uses_left > 0 and expires_at > :now and revoked_at is null returning token_id`,
)

const operations = {
  createInitialToken: {
    keys: idKey,
    cache: 'kept',
    event: ({ id, uses, template }) => ({
      event: 'initial-token.created',
      details: { initial_token: id, uses, trust_level: template.trustLevel },
    }),
    *run(token) {
      yield* rows(CREATE, INITIAL_TOKENS.values(token))
      return 'created'
    },
  },
  revokeInitialToken: {
    keys: idKey,
    cache: 'kept',
    event: when('changed', ({ id }) => ({ event: 'initial-token.revoked', details: { initial_token: id } })),
    run: change(
      'update initial_tokens set revoked_at = coalesce(revoked_at, :now) where token_id = :id returning token_id',
    ),
  },
} satisfies NounOperations

const reads = {
  findInitialToken: findBy(INITIAL_TOKENS, FIND),
  listInitialTokens: listPage(
    INITIAL_TOKENS,
    'select * from initial_tokens where token_id < :before order by token_id desc limit :limit',
  ),
}

export const initialTokens = { operations, reads }

/**
 * Counts a use of an initial access token, and returns whether it could be used. Its client is inserted in the same
 * transaction.
 */
export function* countTokenUse(use: { readonly tokenId: InitialTokenId; readonly now: EpochMs }): Steps<boolean> {
  return (yield* rows(USE, use)).length === 1
}
