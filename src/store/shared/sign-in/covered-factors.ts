import type { ChangingSession, OtherFactors } from '../../../ports/operations/second-factor.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { CoveredFactors } from '../../../protocol/sign-in/authentication.ts'
import type { PasskeyId } from '../../../protocol/sign-in/passkey.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import { PROVIDERS, findRequiredProvider } from '../../nouns/user/providers.ts'
import { holdSession } from '../../nouns/user/logout-notices.ts'
import { eachOf, rows, shared, type Steps } from '../statement.ts'

const FIND_APP = shared('select user_id from second_factors where user_id = :userId')
const FORGIVE_GUESSES = shared('update second_factors set failures = 0 where user_id = :userId')
const OTHER_PASSKEY = shared(
  'select passkey_id from passkeys where user_id = :userId and passkey_id <> :removed limit 1',
)
/** `:among`: between spaces. */
const IS_AMONG = `user_id = :userId and identity_key <> :removed and :among like '% ' || identity_key || ' %'`
const OTHER_IDENTITY = shared(`select identity_key from identities where ${eachOf('identities', IS_AMONG)} limit 1`)
const FIND_EMAIL = shared('select email from users where user_id = :userId')
const LIST_IDENTITIES = shared(
  `select i.identity_key, p.* from identities as i join providers as p on p.provider_id = i.provider_id
   where ${eachOf('identities', 'i.user_id = :userId')}`,
)
const FIND_PASSKEYS = shared('select passkey_id from passkeys where user_id = :userId')

/**
 * Whether the session in which a user changes how the user signs in is active, and covers the second factors that the account has. The
 * row of the user is then locked, so it stays so until the operation is committed.
 */
export function* holdChange(userId: UserId, session: ChangingSession): Steps<boolean> {
  return (yield* holdSession(userId, session)) && (yield* areCovered(userId, session.covers))
}

/** Whether an authentication covers the second factors that the account has. The row of the user is locked before. */
export function* areCovered(userId: UserId, covers: CoveredFactors): Steps<boolean> {
  if (!covers.passkey && (yield* hasPasskeys(userId))) return false
  return covers.others || !((yield* hasSecondFactor(userId)) || (yield* listStrongIdentities(userId)).length > 0)
}

/**
 * Whether a second factor remains without the passkey or identity that the user removes. undefined: none need remain. The row of the user is
 * locked before, so that of two removals at the same time one sees what the other has left.
 */
export function* keepsFactor(
  userId: UserId,
  factors: OtherFactors | undefined,
  removed: PasskeyId | IdentityKey,
): Steps<boolean> {
  if (factors === undefined || (factors.app && (yield* hasSecondFactor(userId)))) return true
  const values = { userId, removed, among: ` ${factors.identities.join(' ')} ` }
  return (yield* rows(OTHER_PASSKEY, values)).length + (yield* rows(OTHER_IDENTITY, values)).length > 0
}

/** Accepts codes of unknown browsers again. */
export function* forgiveGuesses(userId: UserId): Steps<void> {
  yield* rows(FORGIVE_GUESSES, { userId })
}

/** Whether the user has a passkey. */
export function* hasPasskeys(userId: UserId): Steps<boolean> {
  return (yield* rows(FIND_PASSKEYS, { userId })).length > 0
}

/**
 * The identities at providers with `multi_factor` that count as second factors, also while a provider is disabled: not those of an address
 * that requires another provider.
 */
export function* listStrongIdentities(userId: UserId): Steps<readonly IdentityKey[]> {
  const [user] = yield* rows(FIND_EMAIL, { userId })
  const required = yield* findRequiredProvider((user?.['email'] ?? null) as string | null)
  return (yield* rows(LIST_IDENTITIES, { userId })).flatMap((row) => {
    const { id, settings } = PROVIDERS.read(row)
    return settings.multiFactor && (required ?? id) === id ? [row['identity_key'] as IdentityKey] : []
  })
}

/** Whether the user has an authenticator app. */
export function* hasSecondFactor(userId: UserId): Steps<boolean> {
  return (yield* rows(FIND_APP, { userId })).length === 1
}
