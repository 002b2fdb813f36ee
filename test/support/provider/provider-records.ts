import { randomBytes } from 'node:crypto'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from '../../../src/ports/records/provider.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { PROVIDER_TEMPLATES } from '../../../src/protocol/sign-in/provider.ts'
import type { IdentityKey } from '../../../src/protocol/sign-in/provider-identity.ts'
import { aHash, at, MINUTE, NOW } from '../records.ts'

/** Complete records of providers and identities, as those of records.ts. */

/** A provider with the domain of its id. */
export function aProvider(differing: Partial<ProviderRecord> = {}): ProviderRecord {
  const id = `idp-${randomBytes(6).toString('hex')}` as ProviderId
  const settings = { ...PROVIDER_TEMPLATES.oidc, name: `Ada's "provider" \u{1f600}`, clientId: 'grantor' }
  return {
    id,
    settings: {
      ...settings,
      issuer: `https://${id}.example`,
      domains: [`${id}.example`],
      privateHosts: ['idp.internal'],
    },
    encryptedSecret: aHash(),
    createdAt: NOW,
    disabledAt: undefined,
    ...differing,
  }
}

/** A provider that always asks for two factors. */
export function aStrongProvider(): ProviderRecord {
  const provider = aProvider()
  return { ...provider, settings: { ...provider.settings, multiFactor: true } }
}

/** An identity at a provider, for a user. Both are created apart from it. */
export function anIdentity(differing: Partial<IdentityRecord> = {}): IdentityRecord {
  return {
    key: aHash() as string as IdentityKey,
    userId: mintUserId(NOW, randomBytes),
    providerId: 'idp' as ProviderId,
    subject: `sub "ject" ' \u{1f600}`,
    email: 'ada@idp.test',
    linkedAt: NOW,
    usedAt: at(1),
    ...differing,
  }
}

export function anIdentityProof(differing: Partial<IdentityProofRecord> = {}): IdentityProofRecord {
  return { identity: anIdentity(), hash: aHash(), browserHash: aHash(), expiresAt: at(10 * MINUTE), ...differing }
}
