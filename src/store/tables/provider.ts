import { bigint, group, table, text } from '../table.ts'
import type { IdentityProofRecord, IdentityRecord } from '../../ports/records/provider.ts'

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

export const IDENTITY_PROOFS = table<IdentityProofRecord>({
  identity: group<IdentityRecord>(ofIdentity),
  hash: text('proof_hash'),
  browserHash: text('browser_hash'),
  expiresAt: bigint('expires_at'),
})
