import { bigint, json, optionalGroup, optionalJson, optionalScope, table, text, without } from '../table.ts'
import type { ConsentRecord, GrantRecord, OpenidGrant } from '../../ports/records/grant.ts'
import type { StatedAuthentication } from '../../protocol/sign-in/acr.ts'
import { readConsentTarget } from '../rows.ts'

export const GRANTS = table<GrantRecord>({
  id: text('grant_id'),
  clientId: text('client_id'),
  userId: text('user_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  ungrantedScope: optionalScope('ungranted_scope'),
  resources: json('resources'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
  family: optionalGroup('live_hash', {
    generation: bigint('generation'),
    liveHash: text('live_hash'),
    rotatedAt: bigint('rotated_at'),
    idleExpiresAt: bigint('idle_expires_at'),
    network: text('network'),
    heldFor: text('held_for'),
  }),
  openid: optionalJson<OpenidGrant>('openid'),
  stated: optionalJson<StatedAuthentication>('stated'),
  redirectHost: text('redirect_host'),
  boundKey: optionalGroup('key_thumbprint', {
    thumbprint: text('key_thumbprint'),
    generation: bigint('key_generation'),
  }),
  providerId: text('provider_id'),
})

/** Of the columns, those that users see. */
export const CONSENTS = table<ConsentRecord>({
  clientId: text('client_id'),
  redirectHost: text('redirect_host'),
  target: { columns: [], read: (row) => readConsentTarget(row['resources'] as string) },
  scope: text('scope'),
  givenAt: bigint('given_at'),
})

/** The columns that a new grant sets: it was not revoked, and its family is not held. */
export const NEW_GRANT = without(GRANTS, 'revoked_at', 'held_for')
