import { bigint, table, text } from '../table.ts'
import type { KeyRecord } from '../../ports/records/key.ts'

export const SIGNING_KEYS = table<KeyRecord>({
  id: text('key_id'),
  purpose: text('purpose'),
  algorithm: text('algorithm'),
  publicJwk: text('public_jwk'),
  encryptedPrivateKey: text('encrypted_private_key'),
  createdAt: bigint('created_at'),
  activeFrom: bigint('active_from'),
})
