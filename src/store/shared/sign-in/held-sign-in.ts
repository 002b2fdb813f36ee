import type { SignInBasis } from '../../../ports/operations/session.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { APPLICATION, type ProviderId } from '../../../protocol/sign-in/authentication.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import { findRequiredProvider, isProviderEnabled } from '../../nouns/user/providers.ts'
import { rows, shared, type Steps } from '../statement.ts'

/** Changes nothing, and locks the row: what changes the account happens before, or sees what this operation adds. */
const HOLD = shared(
  `update users set password_hash = password_hash
   where user_id = :userId and disabled_at is null and not_before <= :since
     and password_hash is not distinct from cast(:passwordHash as text)
   returning email`,
)
/** The same for what removes the identity. */
const HOLD_IDENTITY = shared(
  `update identities set used_at = used_at where identity_key = :key and user_id = :userId returning provider_id`,
)
const FIND_PROOF = shared(
  `select provider_id from identity_proofs where user_id = :userId and proof_hash = :proof and expires_at > :now`,
)

/** What an operation that a sign-in leads to may depend on until it is committed. */
export interface HeldSignIn {
  /** The only provider at which the address of the user may sign in. */
  readonly required: ProviderId | undefined
  /** Whether the user has authenticated elsewhere and has a proof of it, so that the sign-in links that identity or fails. */
  readonly mustLink: boolean
}

/**
 * Holds what a sign-in rests on, however long the user took between its steps (decision 0052). undefined: it is no longer so, and nothing
 * may be stored. The provider is read after the rows that are locked: an operator who disables it afterwards ends what is there.
 */
export function* holdSignIn(userId: UserId, basis: SignInBasis, now: EpochMs): Steps<HeldSignIn | undefined> {
  const { identity, proof, providerId } = basis
  const [user] = yield* rows(HOLD, { ...basis, userId })
  if (user === undefined) return undefined
  const held = identity === undefined ? undefined : yield* holdIdentity(identity, userId)
  if (identity !== undefined && !(yield* isUsable(held))) return undefined
  const required = held === APPLICATION ? undefined : yield* findRequiredProvider(user['email'] as string | null)
  if (required === undefined || required === providerId) return { required, mustLink: false }
  const [proven] = proof === undefined ? [] : yield* rows(FIND_PROOF, { userId, proof, now })
  return proven?.['provider_id'] === required ? { required, mustLink: true } : undefined
}

/** The provider of an identity of the user; undefined: the user does not have it. It cannot be removed before the operation is committed. */
export function* holdIdentity(key: IdentityKey, userId: UserId): Steps<ProviderId | undefined> {
  const [row] = yield* rows(HOLD_IDENTITY, { key, userId })
  return row?.['provider_id'] as ProviderId | undefined
}

/** Whether users sign in there: at the operator's application, or at a provider that is enabled. */
export function* isUsable(providerId: ProviderId | undefined): Steps<boolean> {
  return providerId !== undefined && (providerId === APPLICATION || (yield* isProviderEnabled(providerId)))
}
