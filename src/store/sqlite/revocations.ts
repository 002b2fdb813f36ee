import type { DatabaseSync } from 'node:sqlite'
import type { Handlers } from './handlers.ts'

export function revocationStatements(database: DatabaseSync) {
  const revokeGrant = database.prepare('update grants set revoked_at = coalesce(revoked_at, ?) where grant_id = ?')
  const revokeToken = database.prepare(
    'insert into revoked_tokens (token_id, expires_at) values (?, ?) on conflict (token_id) do nothing',
  )
  const find = database.prepare('select 1 from revoked_tokens where token_id = ?')

  return {
    revokeGrant: ({ id, now }) => (revokeGrant.run(now, id).changes === 1 ? 'revoked' : 'unknown'),
    revokeToken({ tokenId, expiresAt }) {
      revokeToken.run(tokenId, expiresAt)
      return 'revoked'
    },
    isTokenRevoked: (tokenId: string): boolean => find.get(tokenId) !== undefined,
  } satisfies Partial<Handlers> & Record<string, unknown>
}
