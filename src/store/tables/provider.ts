import { bigint, group, json, table, text } from '../table.ts'
import { PROVIDER_TEMPLATES, type ProviderSettings } from '../../protocol/sign-in/provider.ts'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from '../../ports/records/provider.ts'
import { isSameJson } from '../../base/json.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = PROVIDER_TEMPLATES.oidc
/** Members that earlier providers lack. */
const LATER: readonly string[] = [
  'membership',
  'multiFactor',
  'listing',
  'assertionClients',
  'assertionApis',
] satisfies readonly (keyof ProviderSettings)[]

/**
 * The members are stored in one order, because an update compares the text. For the same reason a member that earlier providers lack is
 * stored only if it is not the default.
 */
const storedSettings = json<ProviderSettings>(
  'settings',
  (declared) =>
    Object.fromEntries(
      Object.entries(declared)
        .filter(([name, value]) => !LATER.includes(name) || !isSameJson(value, DEFAULTS[name]))
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
  (stored) => ({ ...PROVIDER_TEMPLATES.oidc, ...(stored as ProviderSettings) }),
)

/** The column that an update compares with what its caller read. */
export const PROVIDER_SETTINGS = table<Pick<ProviderRecord, 'settings'>>({ settings: storedSettings })

export const PROVIDERS = table<ProviderRecord>({
  id: text('provider_id'),
  settings: storedSettings,
  encryptedSecret: text('encrypted_secret'),
  createdAt: bigint('created_at'),
  disabledAt: bigint('disabled_at'),
})

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
