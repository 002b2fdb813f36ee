import type { LinkingReason } from '../../../ports/operations/provider.ts'
import type { ProvenIdentity } from '../../../ports/operations/session.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { IdentityProofRecord, IdentityRecord } from '../../../ports/records/provider.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { NounOperations } from '../../noun.ts'
import { addMails } from './mails.ts'
import { isProviderEnabled } from './providers.ts'
import { areCovered } from '../../shared/sign-in/covered-factors.ts'
import type { HeldSignIn } from '../../shared/sign-in/held-sign-in.ts'
import { findBy, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, group, table, text, assignments, without } from '../../table.ts'

const ofIdentity = {
  key: text<IdentityRecord['key']>('identity_key'),
  userId: text<IdentityRecord['userId']>('user_id'),
  providerId: text<IdentityRecord['providerId']>('provider_id'),
  subject: text<string>('subject'),
  email: text<string | undefined>('email'),
  linkedAt: bigint<IdentityRecord['linkedAt']>('linked_at'),
  usedAt: bigint<IdentityRecord['usedAt']>('used_at'),
}

export const IDENTITIES = table<IdentityRecord>(ofIdentity)

const IDENTITY_PROOFS = table<IdentityProofRecord>({
  identity: group<IdentityRecord>(ofIdentity),
  hash: text('proof_hash'),
  browserHash: text('browser_hash'),
  expiresAt: bigint('expires_at'),
})

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

const IS_LIVE = shared('select user_id from users where user_id = :userId and disabled_at is null')
const FIND_PROOF = shared('select * from identity_proofs where user_id = :userId')
const CREATE_PROOF = shared(
  `insert into identity_proofs (${IDENTITY_PROOFS.names}) values (${IDENTITY_PROOFS.parameters})
   on conflict (user_id) do update set ${assignments(without(IDENTITY_PROOFS, 'user_id'))}`,
)

/** Proofs that a user has authenticated at a provider, whose identity is not linked yet. */
const operations = {
  createIdentityProof: {
    keys: ({ identity }) => [identity.userId],
    cache: 'kept',
    event: 'no-event',
    *run(proof) {
      if (!(yield* isProviderEnabled(proof.identity.providerId))) return 'provider-off'
      if ((yield* rows(IS_LIVE, proof.identity)).length === 0) return 'unknown'
      yield* rows(CREATE_PROOF, IDENTITY_PROOFS.values(proof))
      return 'created'
    },
  },
} satisfies NounOperations

const reads = {
  findIdentityProof: findBy(IDENTITY_PROOFS, FIND_PROOF),
}

export const identityProofs = { operations, reads }

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

/** `reason`: `proof`, with a session, or that of the operation. */
export function identityLinked(
  { userId, providerId }: Pick<IdentityRecord, 'userId' | 'providerId'>,
  reason: LinkingReason['kind'] | 'proof',
): AuditEvent {
  return { event: 'identity.linked', userId, details: { provider: providerId, reason } }
}
