import type { Row } from './rows.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import type { ApiDefinition, ApiRecord, ApiScope, ApiTokens } from '../ports/records/api.ts'
import type { AuditLinkRecord } from '../ports/records/audit.ts'
import type { KeyRecord, SigningAlgorithm } from '../ports/records/key.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { ClockNote, ClockNotes } from '../protocol/clock.ts'
import type { AdminCredentialId, ApiCredentialId, KeyId, OrganizationId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import type { SecretHash } from '../protocol/secrets.ts'

export function apiOf(row: Row): ApiRecord {
  return {
    resource: row['resource'] as Resource,
    name: (row['name'] ?? undefined) as string | undefined,
    scopes: (JSON.parse(row['scopes'] as string) as readonly StoredScope[]).map(scopeOf),
    scopesSince: new Map(JSON.parse((row['scopes_since'] ?? '[]') as string) as readonly [string, EpochMs][]),
    tokens: {
      format: (row['token_format'] ?? 'jwt') as ApiTokens['format'],
      lifetime: (row['token_lifetime'] ?? undefined) as number | undefined,
      algorithm: (row['algorithm'] ?? undefined) as SigningAlgorithm | undefined,
      jwtType: (row['jwt_type'] ?? 'at+jwt') as ApiTokens['jwtType'],
    },
    credentials:
      row['credential_id'] === null
        ? undefined
        : { id: row['credential_id'] as ApiCredentialId, secretHash: row['secret_hash'] as SecretHash },
    createdAt: row['created_at'] as EpochMs,
  }
}

/** The columns of an API that an update replaces, then its resource, in the order of both stores' statements. */
export function apiValues({ resource, name, scopes, tokens }: ApiDefinition) {
  const { format, lifetime, algorithm, jwtType } = tokens
  return [
    name ?? null,
    JSON.stringify(scopes.map(storedScope)),
    format,
    lifetime ?? null,
    algorithm ?? null,
    jwtType,
    resource,
  ] as const
}

/** The column `scopes_since`. */
export function scopesSinceValue({ scopesSince }: Pick<ApiRecord, 'scopesSince'>): string | null {
  return scopesSince.size === 0 ? null : JSON.stringify([...scopesSince])
}

/**
 * Returns a scope as the column stores it. `users-on-request` is stored as `approved-clients` with a mark: a release that
 * does not know the mark then publishes the scope nowhere and gives it only to approved clients.
 */
type StoredScope = Omit<ApiScope, 'grantedTo'> & {
  readonly grantedTo: Exclude<ApiScope['grantedTo'], 'users-on-request'>
  readonly onRequest?: true
}

function storedScope({ name, sentence, grantedTo }: ApiScope): StoredScope {
  if (grantedTo !== 'users-on-request') return { name, sentence, grantedTo }
  return { name, sentence, grantedTo: 'approved-clients', onRequest: true }
}

function scopeOf({ name, sentence, grantedTo, onRequest }: StoredScope): ApiScope {
  return { name, sentence, grantedTo: onRequest === true ? 'users-on-request' : grantedTo }
}

export function keyOf(row: Row): KeyRecord {
  return {
    id: row['key_id'] as KeyId,
    algorithm: row['algorithm'] as SigningAlgorithm,
    publicJwk: row['public_jwk'] as string,
    encryptedPrivateKey: row['encrypted_private_key'] as string,
    createdAt: row['created_at'] as EpochMs,
    // A key from before key rotation existed was the only one, and has signed since it was created.
    activeFrom: (row['active_from'] ?? row['created_at']) as EpochMs,
  }
}

/** The columns of a key, in the order of both stores' statements. */
export function keyValues({ id, algorithm, publicJwk, encryptedPrivateKey, createdAt, activeFrom }: KeyRecord) {
  return [id, algorithm, publicJwk, encryptedPrivateKey, createdAt, activeFrom] as const
}

/** Returns the oldest key of an algorithm. `keys` are ordered from the oldest on. */
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

/** The columns of a link, in the order of both stores' statements. */
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

/** Names of the rows of `settings` that are replaced. */
export const ALGORITHM = 'server-algorithm'
export const CLOCK_NOTE = 'clock'
export const CLOCK_CONFIRMATION = 'clock-confirmed'

/** The value of CLOCK_NOTE. `deletionMoment` is the name that every release stores for `deletionTime`. */
export function clockNoteValue({ deletionTime, ...note }: ClockNote): string {
  return JSON.stringify({ ...note, deletionMoment: deletionTime })
}

/** The parsed values of CLOCK_NOTE and CLOCK_CONFIRMATION. */
export function clockNotesOf(note: string | undefined, confirmation: string | undefined): ClockNotes {
  return {
    node: note === undefined ? undefined : clockNoteOf(note),
    confirmation: confirmation === undefined ? undefined : (Number(confirmation) as EpochMs),
  }
}

function clockNoteOf(value: string): ClockNote {
  const { deletionMoment, ...note } = JSON.parse(value) as Omit<ClockNote, 'deletionTime'> & {
    readonly deletionMoment: EpochMs
  }
  return { ...note, deletionTime: deletionMoment }
}

/** Uses the newest row as a note: the clock agreed when the row was made. */
export function noteOfNewestRow(newestRowAt: EpochMs | undefined): ClockNote | undefined {
  if (newestRowAt === undefined) return undefined
  return { agreedAt: newestRowAt, deletionTime: newestRowAt, confirmation: undefined }
}
