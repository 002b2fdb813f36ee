import type { NounOperations } from '../noun.ts'

/** The rows of OPERATIONS for grants and tokens. */
export const TOKEN_OPERATIONS = {
  issueToken: { cache: 'kept', event: 'no-event' },
  revokeToken: {
    cache: 'kept',
    // Without `about`, the endpoint reports the event: the revocations of a client that revokes many tokens are counted (docs/limits.md).
    event: ({ tokenId, about }, outcome) =>
      outcome === 'revoked' && about !== undefined
        ? { event: 'token.revoked', ...about, details: { token: tokenId } }
        : undefined,
  },
  consumeOnce: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations
