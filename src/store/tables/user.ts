import { bigint, disabling, flag, optionalGroup, table, text } from '../table.ts'
import type { PasskeyRecord } from '../../ports/records/passkey.ts'
import type { SecondFactorRecord } from '../../ports/records/second-factor.ts'
import type { EmailCodeRecord, LinkRecord, UserRecord } from '../../ports/records/user.ts'
import type { UserProfile } from '../../protocol/openid/user-claims.ts'

export const USERS = table<UserRecord>({
  id: text('user_id'),
  email: text('email'),
  emailVerifiedAt: bigint('email_verified_at'),
  name: text('name'),
  profile: {
    columns: [{ name: 'profile', type: 'text', write: profileText }],
    read: (row) => JSON.parse((row['profile'] ?? '{}') as string) as UserProfile,
  },
  updatedAt: bigint('updated_at'),
  passwordHash: text('password_hash'),
  firstSignedInAt: bigint('first_signed_in_at'),
  createdAt: bigint('created_at'),
  ...disabling,
})

/** The text of a profile; null if it is empty. */
export function profileText(profile: UserProfile): string | null {
  return Object.keys(profile).length === 0 ? null : JSON.stringify(profile)
}

export const LINKS = table<LinkRecord>({
  userId: text('user_id'),
  origin: text('origin'),
  hash: text('link_hash'),
  purpose: text('purpose'),
  isMailed: flag('mailed'),
  madeBy: optionalGroup('made_by', {
    userId: text('made_by'),
    roleSince: bigint('role_since'),
    notBefore: bigint('maker_not_before'),
  }),
  madeWith: text('made_with'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

export const EMAIL_CODES = table<EmailCodeRecord>({
  userId: text('user_id'),
  email: text('email'),
  digest: text('code_digest'),
  failures: bigint('failures'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

export const SECOND_FACTORS = table<SecondFactorRecord>({
  userId: text('user_id'),
  secret: text('secret'),
  lastStep: bigint('last_step'),
  failures: bigint('failures'),
  createdAt: bigint('created_at'),
  usedAt: bigint('used_at'),
})

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
