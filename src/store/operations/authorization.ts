import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for authorization requests and their codes. */
export const AUTHORIZATION_OPERATIONS = {
  startAuthorization: { cache: 'kept', event: 'no-event' },
  approveAuthorization: {
    cache: 'kept',
    event: when('approved', ({ id, userId, organizationId, about }) => ({
      event: 'authorization.approved',
      ...about,
      userId,
      organizationId,
      details: { authorization: id, ...about?.details },
    })),
  },
  denyAuthorization: {
    cache: 'kept',
    event: when('denied', ({ id, about }) => ({
      event: 'authorization.denied',
      ...about,
      details: { authorization: id, ...about?.details },
    })),
  },
  redeemCode: {
    cache: 'kept',
    // A token that is issued normally is counted instead (tokens.issued).
    event: when('replayed', ({ grant: { id, clientId, userId, organizationId } }) => ({
      event: 'code.replayed',
      clientId,
      userId,
      organizationId,
      details: { authorization: id },
    })),
  },
  burnCode: {
    cache: 'kept',
    event: when('burned', ({ id, about }) => ({ event: 'code.burned', ...about, details: { authorization: id } })),
  },
} satisfies NounOperations
