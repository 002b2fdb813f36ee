import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for grants and tokens. */
export const TOKEN_OPERATIONS = {
  rotateRefreshToken: {
    cache: 'kept',
    event: ({ grantId, generation, about, recordsParting }, outcome) => {
      switch (outcome.kind) {
        case 'reused': {
          const details = outcome.wasHeld ? { generation, parted: true } : { generation }
          return { event: 'refresh-token.reused', ...about, grantId, details }
        }
        case 'parted': {
          if (!recordsParting) return undefined
          const { newest } = outcome
          return { event: 'refresh-token.parted', ...about, grantId, details: { generation, newest } }
        }
        case 'rotated':
        case 'repeated':
        case 'earlier':
        case 'held':
        case 'inactive':
          return undefined
      }
    },
  },

  openGrant: { cache: 'kept', event: 'no-event' },
  revokeGrant: {
    cache: 'kept',
    event: when('revoked', ({ id, about }) => ({ event: 'grant.revoked', ...about, grantId: id })),
  },
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
  removeApp: {
    cache: 'kept',
    event: ({ userId, clientId, organizationId }, { grants }) =>
      grants === 0 ? undefined : { event: 'app.removed', userId, clientId, organizationId, details: { grants } },
  },
} satisfies NounOperations
