import { idOf, type NounOperations, when } from '../noun.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'

/** The rows of OPERATIONS for users and the links with which they set a password. */
export const USER_OPERATIONS = {
  createUser: { cache: 'kept', event: when('created', aboutUser('user.created')) },
  importUser: {
    // It may add memberships.
    cache: 'cleared',
    event: ({ user: { id: userId }, source }, outcome) => {
      if (outcome === 'created') return { event: 'user.imported', userId, details: { source } }
      return outcome === 'updated' ? { event: 'user.import-updated', userId, details: { source } } : undefined
    },
  },
  setPassword: { cache: idOf, event: when('changed', aboutUser('user.password-changed')) },
  upgradePassword: {
    cache: idOf,
    event: when('changed', ({ id, format }) => ({
      event: 'user.password-upgraded',
      userId: id,
      details: { format },
    })),
  },
  disableUser: { cache: idOf, event: when('changed', aboutUser('user.disabled')) },
  enableUser: { cache: idOf, event: when('changed', aboutUser('user.enabled')) },
  deleteUser: { cache: 'cleared', event: when('deleted', aboutUser('user.deleted')) },
  revokeUserTokens: { cache: idOf, event: when('changed', aboutUser('user.tokens-revoked')) },
  setEmail: {
    cache: idOf,
    event: when('changed', ({ id, emailVerifiedAt }) => ({
      event: 'user.email-changed',
      userId: id,
      details: { verified: emailVerifiedAt !== undefined },
    })),
  },
  respellEmail: { cache: idOf, event: 'no-event' },
  renameUser: { cache: idOf, event: when('changed', aboutUser('user.renamed')) },
  updateUser: { cache: idOf, event: when('changed', aboutUser('user.updated')) },
  changePassword: { cache: idOf, event: when('changed', aboutUser('user.password-changed')) },
  createLink: {
    cache: 'kept',
    event: when('created', ({ userId, purpose, isMailed }) => ({
      event: 'link.created',
      userId,
      details: { purpose, sent: isMailed },
    })),
  },

  createEmailCode: { cache: 'kept', event: 'no-event' },
  confirmEmail: {
    cache: ({ userId }) => userId,
    event: when('changed', ({ userId }) => ({ event: 'user.email-changed', userId, details: { verified: true } })),
  },
  useLink: { cache: ({ userId }) => userId, event: when('used', ({ userId }) => ({ event: 'link.used', userId })) },
} satisfies NounOperations

function aboutUser(event: AuditEventName) {
  return (input: UserId | { readonly id: UserId }): AuditEvent => ({ event, userId: idOf(input) })
}
