import type { Reads } from '../../ports/store.ts'
import { columns } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'
import { openBatchLoader } from './batch-loader.ts'
import { valuesOf, type Handlers } from './handlers.ts'
import { insertion, insertRows } from './connection/insertion.ts'

const REVOKE_GRANTS = {
  name: 'revoke-grants-at-once',
  text: `update grants as g set revoked_at = i.now
    from unnest($1::text[], $2::bigint[]) as i (grant_id, now)
    where g.grant_id = i.grant_id and g.revoked_at is null returning g.grant_id`,
}
const FIND_GRANTS = { name: 'find-known-grants', text: 'select grant_id from grants where grant_id = any($1::text[])' }
const REVOKE_TOKENS = insertion({
  name: 'revoke-tokens',
  into: 'revoked_tokens (token_id, expires_at)',
  types: ['text', 'bigint'],
  ending: 'on conflict (token_id) do nothing returning token_id',
})
const FIND_REVOKED = {
  name: 'find-revoked-tokens',
  text: 'select token_id from revoked_tokens where token_id = any($1::text[])',
}

export function revocationStatements(database: Database) {
  const handlers = {
    revokeGrant: {
      keys: ({ id }) => [id],
      async run(query, inputs) {
        const rows = columns(inputs, 'id', 'now')
        const revoked = valuesOf(await query(REVOKE_GRANTS, rows), 'grant_id')
        const others = inputs.map(({ id }) => id).filter((id) => !revoked.has(id))
        const known = valuesOf(others.length === 0 ? [] : await query(FIND_GRANTS, [others]), 'grant_id')
        return inputs.map(({ id }) => (revoked.has(id) ? 'revoked' : known.has(id) ? 'known' : 'unknown'))
      },
    },
    revokeToken: {
      keys: ({ tokenId }) => [`token:${tokenId}`],
      async run(query, inputs) {
        const rows = columns(inputs, 'tokenId', 'expiresAt')
        const revoked = valuesOf(await insertRows(query, REVOKE_TOKENS, rows), 'token_id')
        return inputs.map(({ tokenId }) => (revoked.has(tokenId) ? 'revoked' : 'known'))
      },
    },
  } satisfies Partial<Handlers>
  const findRevoked = openBatchLoader(async (ids: readonly string[]) =>
    (await database.query(FIND_REVOKED, [ids])).map((row) => ({ id: row['token_id'] as string })),
  )
  const reads = {
    isTokenRevoked: async (tokenId: string) => (await findRevoked(tokenId)) !== undefined,
  } satisfies Partial<Reads>
  return { handlers, reads }
}
