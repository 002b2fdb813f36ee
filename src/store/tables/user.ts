import { bigint, flag, optionalGroup, table, text } from '../table.ts'
import type { PasskeyRecord } from '../../ports/records/passkey.ts'

export const PASSKEYS = table<PasskeyRecord>({
  userId: text('user_id'),
  id: text('passkey_id'),
  credentialId: text('credential_id'),
  publicKey: text('public_key'),
  counter: bigint('counter'),
  isBackupEligible: flag('backup_eligible'),
  isBackedUp: flag('backed_up'),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  createdAt: bigint('created_at'),
  usedAt: bigint('used_at'),
})
