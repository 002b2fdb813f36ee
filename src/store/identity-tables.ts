import type { IdentityRecord } from '../ports/records/provider.ts'
import { bigint, table, text } from './table.ts'

/** The tables of the accounts that users have elsewhere, as in tables.ts. */

export const IDENTITIES = table<IdentityRecord>({
  key: text('identity_key'),
  userId: text('user_id'),
  providerId: text('provider_id'),
  subject: text('subject'),
  email: text('email'),
  linkedAt: bigint('linked_at'),
  usedAt: bigint('used_at'),
})
