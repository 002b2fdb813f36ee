import * as z from 'zod'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../base/iso.ts'
import { OPENING_GRANT_TYPES } from '../clients/grant-type.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import { INACTIVE_REASONS } from '../tokens/inactive-reason.ts'
import { tableOf } from './table.ts'

const { row, given, table } = tableOf<GrantRecord>()

/** A grant in an answer, without tokens and hashes of tokens. */
export const GRANT = table({
  grant_id: row(z.string(), ({ id }) => id),
  client_id: row(z.string(), ({ clientId }) => clientId),
  user_id: row(z.string(), ({ userId }) => userId),
  organization_id: row(z.string().nullable(), ({ organizationId }) => organizationId ?? null),
  scope: row(z.string(), ({ scope }) => scope),
  resources: row(
    z.array(z.string()).describe('The APIs that its tokens are for; empty: the issuer itself.'),
    ({ resources }) => resources,
  ),
  grant_type: given(
    z
      .enum(OPENING_GRANT_TYPES)
      .nullable()
      .describe(
        'How the client got it, as far as the grant and the redirect URIs of the client say; null: by a code at a redirect URI to the computer of the user, or by a device, or the client was deleted.',
      ),
  ),
  provider_id: row(
    z.string().nullable().describe('The provider whose identity assertion gave the access; null: the user did.'),
    ({ providerId }) => providerId ?? null,
  ),
  created_at: row(ISO.describe('When the user consented, or the assertion was used.'), ({ createdAt }) =>
    iso(createdAt),
  ),
  expires_at: row(ISO.describe('All tokens of the grant expire by this time.'), ({ expiresAt }) => iso(expiresAt)),
  revoked_at: row(ISO_OR_NULL, ({ revokedAt }) => isoOrNull(revokedAt)),
  inactive_reason: given(
    z
      .enum(INACTIVE_REASONS)
      .nullable()
      .describe(
        'Why its tokens do not work: expired, revoked, or the principal that is disabled, deleted, or had all tokens revoked since. null: they do.',
      ),
  ),
  refreshed_at: row(ISO_OR_NULL.describe('When its refresh token was issued; null: it has none.'), ({ family }) =>
    isoOrNull(family?.rotatedAt),
  ),
})
