import type { OpaqueTokenRecord } from '../../../ports/records/api.ts'
import type { OpaqueTokenId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { AccessTokenFacts } from '../../../protocol/token/access-token.ts'
import type { NounOperations } from '../../noun.ts'
import type { Row } from '../../rows.ts'

/** Opaque access tokens, revocations of tokens, and what counts once. */
const operations = {
  // Each engine writes these by itself.
  issueToken: { cache: 'kept', event: 'no-event' },
  revokeToken: {
    cache: 'kept',
    // Without `about`, the endpoint reports the event: the revocations of a client that revokes many tokens are counted (docs/faults.md).
    event: ({ tokenId, about }, outcome) =>
      outcome === 'revoked' && about !== undefined
        ? { event: 'token.revoked', ...about, details: { token: tokenId } }
        : undefined,
  },
  consumeOnce: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

export const accessTokens = { operations }

export function opaqueTokenOf(row: Row): OpaqueTokenRecord {
  const facts = JSON.parse(row['facts'] as string) as AccessTokenFacts
  return {
    id: row['token_id'] as OpaqueTokenId,
    hash: row['token_hash'] as SecretHash,
    // JSON has no undefined, so absent members are set to undefined here.
    facts: {
      ...facts,
      userId: facts.userId,
      organizationId: facts.organizationId,
      grantId: facts.grantId,
      authentication: facts.authentication,
    },
  }
}
