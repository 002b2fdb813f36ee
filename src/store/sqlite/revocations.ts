import type { DatabaseSync } from 'node:sqlite'
import type { Handlers } from './handlers.ts'

export function revocationStatements(database: DatabaseSync) {
  const revokeGrant = database.prepare('update grants set revoked_at = ? where grant_id = ? and revoked_at is null')
  const hasGrant = database.prepare('select 1 from grants where grant_id = ?')
  const revokeToken = database.prepare(
    'insert into revoked_tokens (token_id, expires_at) values (?, ?) on conflict (token_id) do nothing',
  )
  const find = database.prepare('select 1 from revoked_tokens where token_id = ?')

  return {
    revokeGrant({ id, now }) {
      if (revokeGrant.run(now, id).changes === 1) return 'revoked'
      return hasGrant.get(id) === undefined ? 'unknown' : 'known'
    },
    revokeToken: ({ tokenId, expiresAt }) => (revokeToken.run(tokenId, expiresAt).changes === 1 ? 'revoked' : 'known'),
    isTokenRevoked: (tokenId: string): boolean => find.get(tokenId) !== undefined,
  } satisfies Partial<Handlers> & Record<string, unknown>
}
