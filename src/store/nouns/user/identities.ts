import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { LinkingReason } from '../../../ports/operations/provider.ts'
import type { IdentityRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { APPLICATION } from '../../../protocol/sign-in/authentication.ts'
import { type NounOperations, when } from '../../noun.ts'
import { belongingKey, leaveGroupsOfIdentities } from '../organization/group-members.ts'
import { IDENTITIES, endProof, identityLinked } from './identity-proofs.ts'
import { acceptLink } from './links.ts'
import { isProviderEnabled, isRequiredElsewhere } from './providers.ts'
import { deleteAccess, insertUser } from './users.ts'
import { evictAll, evictFromProvider } from '../../shared/evictions.ts'
import { keepChanged } from '../../shared/sign-in/changed-here.ts'
import { hasPasskeys, holdChange, keepsFactor } from '../../shared/sign-in/covered-factors.ts'
import { holdIdentity, isUsable } from '../../shared/sign-in/held-sign-in.ts'
import { eachOf, findBy, rows, shared, type Steps } from '../../shared/statement.ts'

const FIND = shared('select * from identities where identity_key = :key')
const LIST = shared(
  `select * from identities where ${eachOf('identities', 'user_id = :userId')} order by linked_at, identity_key`,
)
const INSERT = shared(
  `insert into identities (${IDENTITIES.names}) values (${IDENTITIES.parameters})
   on conflict (identity_key) do nothing returning identity_key`,
)
const USE = shared(
  `update identities set used_at = :now, email = :email where identity_key = :key and user_id = :userId
   returning identity_key`,
)
const DELETE = shared('delete from identities where identity_key = :key and user_id = :userId returning provider_id')
/** All identities of the user at a provider end together, as its sessions do: a grant does not name the one it came by. */
const REVOKE_ASSERTED = shared(
  `update grants set revoked_at = :now
   where ${eachOf('grants', 'user_id = :userId and provider_id = :providerId and revoked_at is null')}
   returning grant_id`,
)
const OTHER_METHOD = shared(
  `select i.identity_key from identities as i join providers as p on p.provider_id = i.provider_id
   where ${eachOf('identities', 'i.user_id = :userId and i.identity_key <> :key and p.disabled_at is null')} limit 1`,
)
/** Changes nothing, and locks the row: of two nodes that remove the methods of a user, one sees what the other has left. */
const LOCK_USER = shared(
  'update users set password_hash = password_hash where user_id = :userId returning password_hash',
)
const FIND_EMAIL = shared('select email from users where user_id = :userId')

/** Locks the row for the same reason: an account gets one identity by its address. */
const HAS_ADDRESS = shared(
  `update users set password_hash = password_hash
   where user_id = :userId and coalesce(email, '') = :email and email_verified_at is not null and disabled_at is null
   returning user_id`,
)
/** The operator's application had the user before, and is no other provider. */
const IS_OF_PROVIDER = `user_id = :userId and provider_id <> '${APPLICATION}' and identity_key <> :key`
const HAS_IDENTITY = shared(`select identity_key from identities where ${eachOf('identities', IS_OF_PROVIDER)} limit 1`)
/** The user is found by the id, not by the index of addresses. The account was never used, also not where it was imported from (IMPORTED). */
const TAKE_OVER = shared(
  `update users set password_hash = null, email_verified_at = :now, updated_at = :now, not_before = greatest(not_before, :now)
   where user_id = :userId and coalesce(email, '') = :email and email_verified_at is null and first_signed_in_at is null
     and disabled_at is null returning user_id`,
)
const DELETE_OTHERS = shared(
  `delete from identities where ${eachOf('identities', 'user_id = :userId and identity_key <> :key')}`,
)

const operations = {
  linkIdentity: {
    keys: ({ identity }) => [identity.userId, identity.key],
    // It may end the memberships of the user.
    cache: 'cleared',
    event: when('linked', ({ identity, reason: { kind } }) => identityLinked(identity, kind)),
    mails: 'linked',
    *run({ identity, reason, now }) {
      if (!(yield* isProviderEnabled(identity.providerId))) return 'provider-off'
      if (yield* mustBeElsewhere(identity)) return 'refused'
      // First, so that an identity that is taken uses nothing up.
      const isNew = (yield* rows(INSERT, IDENTITIES.values(identity))).length === 1
      // With a link the user may choose an identity that the account has already.
      if (!isNew && !(reason.kind === 'link' && (yield* isOwn(identity)))) return 'taken'
      if (!(yield* holds(identity, reason, now))) {
        if (isNew) yield* rows(DELETE, identity)
        return isNew ? 'refused' : 'taken'
      }
      if (!isNew) yield* rows(USE, { ...identity, now })
      yield* keepChanged(identity.userId)
      yield* endProof(identity.userId, undefined)
      return 'linked'
    },
  },
  provisionUser: {
    keys: ({ user, identity }) => [user.id, identity.key, ...(user.email === undefined ? [] : [`email:${user.email}`])],
    cache: 'kept',
    event: when('created', ({ identity: { userId, providerId } }) => ({
      event: 'user.provisioned',
      userId,
      details: { provider: providerId },
    })),
    run: (account) => provisionUser(account, insertUser),
  },
  useIdentity: {
    keys: ({ key }) => [key],
    // The sign-in has an event of its own.
    cache: 'kept',
    event: 'no-event',
    *run(use) {
      if (!(yield* isUsable(use.providerId))) return 'provider-off'
      return (yield* rows(USE, use)).length === 1 ? 'used' : 'unknown'
    },
  },
  unlinkIdentity: {
    keys: ({ key, userId }) => [userId, key],
    cache: ({ userId }) => belongingKey(userId),
    event: when('unlinked', ({ userId, providerId }) => ({
      event: 'identity.unlinked',
      userId,
      details: { provider: providerId },
    })),
    mails: 'unlinked',
    *run({ key, userId, providerId, passwordCounts, passkeysCount, factors, session, now }) {
      if (!(yield* holdChange(userId, session))) return 'unknown'
      const [user] = yield* rows(LOCK_USER, { userId })
      if (user === undefined) return 'unknown'
      const hasPassword = passwordCounts && user['password_hash'] !== null
      const hasOwn = hasPassword || (passkeysCount && (yield* hasPasskeys(userId)))
      if (!hasOwn && (yield* rows(OTHER_METHOD, { userId, key })).length === 0) return 'last'
      if (!(yield* keepsFactor(userId, factors, key))) return 'last'
      const removed = yield* rows(DELETE, { key, userId })
      if (removed.length === 0) return 'unknown'
      yield* leaveGroupsOfIdentities(userId, removed)
      yield* evictFromProvider(userId, providerId, session)
      // After the identity is removed: `openGrant` happens before, or does not find it.
      yield* rows(REVOKE_ASSERTED, { userId, providerId, now })
      return 'unlinked'
    },
  },
} satisfies NounOperations

const reads = {
  findIdentity: findBy(IDENTITIES, FIND),
  *listIdentities(userId: UserId): Steps<readonly IdentityRecord[]> {
    return (yield* rows(LIST, { userId })).map(IDENTITIES.read)
  },
}

export const identities = { operations, reads }

/** Creates the account with a statement of the database's, which returns whether the address was free. */
export function* provisionUser(
  { user, identity }: Input<'provisionUser'>,
  insert: (user: UserRecord) => Steps<boolean>,
): Steps<Outcome<'provisionUser'>> {
  if (!(yield* isUsable(identity.providerId))) return 'provider-off'
  // The address may be one that the provider does not prove: it restricts.
  if (yield* isRequiredElsewhere(identity.email ?? null, identity.providerId)) return 'provider-off'
  if ((yield* rows(INSERT, IDENTITIES.values(identity))).length === 0) return 'taken'
  if (yield* insert(user)) return 'created'
  yield* rows(DELETE, identity)
  return 'email-taken'
}

/** Whether the address of the user requires another provider than that of the identity (threats.md UP-19). */
function* mustBeElsewhere(identity: IdentityRecord): Steps<boolean> {
  const [user] = yield* rows(FIND_EMAIL, identity)
  return yield* isRequiredElsewhere((user?.['email'] ?? null) as string | null, identity.providerId)
}

function* isOwn({ key, userId }: IdentityRecord): Steps<boolean> {
  return (yield* holdIdentity(key, userId)) !== undefined
}

/** Whether the reason still holds. It is used up. */
function* holds(identity: IdentityRecord, reason: LinkingReason, now: EpochMs): Steps<boolean> {
  const { key, userId } = identity
  const values = { ...identity, ...reason, now }
  switch (reason.kind) {
    case 'session':
      return yield* holdChange(userId, reason.session)
    case 'link':
      return yield* acceptLink({
        ...reason,
        userId,
        keep: [...reason.keep, key],
        providerId: identity.providerId,
        passwordHash: undefined,
        browserHash: undefined,
        adds: key,
        countsAsFactor: reason.isMultiFactor,
        now,
      })
    case 'address':
      return (yield* rows(HAS_ADDRESS, values)).length === 1 && (yield* rows(HAS_IDENTITY, values)).length === 0
    case 'unused': {
      if ((yield* rows(TAKE_OVER, values)).length === 0) return false
      yield* evictAll(userId, now, undefined)
      yield* deleteAccess(userId)
      yield* rows(DELETE_OTHERS, values)
      return true
    }
  }
}
