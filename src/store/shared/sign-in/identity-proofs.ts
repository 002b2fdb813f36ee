import type { ProvenIdentity } from '../../../ports/operations/session.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import { IDENTITIES } from '../../tables/provider.ts'
import { addMails } from '../../nouns/user/mails.ts'
import { isProviderEnabled } from '../../nouns/user/providers.ts'
import { rows, shared, type Steps } from '../statement.ts'
import { areCovered } from './covered-factors.ts'
import type { HeldSignIn } from './held-sign-in.ts'

const INSERT = shared(
  `insert into identities (${IDENTITIES.names}) values (${IDENTITIES.parameters})
   on conflict (identity_key) do nothing returning identity_key`,
)
const IS_OPEN = shared(
  `select user_id from identity_proofs
   where user_id = :userId and proof_hash = :hash and identity_key = :key and expires_at > :now`,
)
const REMOVE = shared(
  'delete from identity_proofs where user_id = :userId and proof_hash is distinct from cast(:kept as text)',
)
const REMOVE_CODE = shared('delete from email_codes where user_id = :userId')

/**
 * Links the identity of a proof to the account of a sign-in whose steps are done, and uses the proof up. false: nothing was stored,
 * because the proof or its provider is no longer valid, another user has the identity, the address requires another provider, or the
 * sign-in does not cover the second factors of the account.
 */
export function* linkProven(
  { identity, hash, covers, mails }: ProvenIdentity,
  { required }: HeldSignIn,
  now: EpochMs,
): Steps<boolean> {
  const { key, userId, providerId } = identity
  if (required !== undefined && required !== providerId) return false
  if (!(yield* isProviderEnabled(providerId)) || !(yield* areCovered(userId, covers))) return false
  if ((yield* rows(IS_OPEN, { userId, hash, key, now })).length === 0) return false
  if ((yield* rows(INSERT, IDENTITIES.values(identity))).length === 0) return false
  yield* endProof(userId, undefined)
  yield* addMails(mails)
  return true
}

/** Another way in ends what else was begun: the proof of an identity, and the code of an address. `kept`: that of the sign-in that goes on. */
export function* endProof(userId: UserId, kept: SecretHash | undefined): Steps<void> {
  yield* rows(REMOVE, { userId, kept })
  yield* rows(REMOVE_CODE, { userId })
}
