import type { Row } from './rows.ts'
import type {
  AdminCredentialRecord,
  ApiDefinition,
  ApiRecord,
  ApiScope,
  ApiTokens,
  AuditLinkRecord,
  KeyRecord,
  SigningAlgorithm,
} from '../ports/operator-records.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { AdminCredentialId, ApiCredentialId, KeyId, OrganizationId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import type { SecretHash } from '../protocol/secrets.ts'

export function apiOf(row: Row): ApiRecord {
  return {
    resource: row['resource'] as Resource,
    name: (row['name'] ?? undefined) as string | undefined,
    scopes: JSON.parse(row['scopes'] as string) as readonly ApiScope[],
    tokens: {
      format: (row['token_format'] ?? 'jwt') as ApiTokens['format'],
      lifetime: (row['token_lifetime'] ?? undefined) as number | undefined,
      algorithm: (row['algorithm'] ?? undefined) as SigningAlgorithm | undefined,
    },
    credentials:
      row['credential_id'] === null
        ? undefined
        : { id: row['credential_id'] as ApiCredentialId, secretHash: row['secret_hash'] as SecretHash },
    createdAt: row['created_at'] as EpochMs,
  }
}

/** The columns of an API that an update replaces, then its resource, in the order in which both stores name them. */
export function apiValues({ resource, name, scopes, tokens }: ApiDefinition) {
  const { format, lifetime, algorithm } = tokens
  return [name ?? null, JSON.stringify(scopes), format, lifetime ?? null, algorithm ?? null, resource] as const
}

export function keyOf(row: Row): KeyRecord {
  return {
    id: row['key_id'] as KeyId,
    algorithm: row['algorithm'] as SigningAlgorithm,
    publicJwk: row['public_jwk'] as string,
    encryptedPrivateKey: row['encrypted_private_key'] as string,
    createdAt: row['created_at'] as EpochMs,
    // The only key that a release before rotation made signs since then.
    activeFrom: (row['active_from'] ?? row['created_at']) as EpochMs,
  }
}

/** The columns of a key, in the order in which both stores name them. */
export function keyValues({ id, algorithm, publicJwk, encryptedPrivateKey, createdAt, activeFrom }: KeyRecord) {
  return [id, algorithm, publicJwk, encryptedPrivateKey, createdAt, activeFrom] as const
}

/** The oldest key of an algorithm, of all keys from the oldest on. */
export function firstKey(keys: readonly KeyRecord[], algorithm: SigningAlgorithm): KeyRecord | undefined {
  return keys.find((key) => key.algorithm === algorithm)
}

export function adminCredentialOf(row: Row): AdminCredentialRecord {
  return {
    id: row['credential_id'] as AdminCredentialId,
    name: row['name'] as string,
    secretHash: row['secret_hash'] as SecretHash,
    access: row['access'] as AdminCredentialRecord['access'],
    organizationId: (row['organization_id'] ?? undefined) as OrganizationId | undefined,
    createdAt: row['created_at'] as EpochMs,
    expiresAt: row['expires_at'] as EpochMs,
    revokedAt: (row['revoked_at'] ?? undefined) as EpochMs | undefined,
  }
}

/** The columns of a link, in the order in which both stores name them. */
export function auditLinkValues(link: AuditLinkRecord) {
  const { id, chainId, sequence, recordedAt, previousHash, events, hash } = link
  return [id, chainId, sequence, recordedAt, previousHash, events, hash] as const
}

export function auditLinkOf(row: Row): AuditLinkRecord {
  return {
    id: row['link_id'] as string,
    chainId: row['chain_id'] as string,
    sequence: row['sequence'] as number,
    recordedAt: row['recorded_at'] as EpochMs,
    previousHash: row['previous_hash'] as string,
    events: row['events'] as string,
    hash: row['link_hash'] as string,
  }
}
