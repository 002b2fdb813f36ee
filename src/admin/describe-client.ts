import * as z from 'zod'
import type { ClientRecord } from '../ports/records/client.ts'
import { describeMetadata } from '../protocol/client-metadata.ts'
import { ISO_OR_NULL, isoOrNull } from './fields.ts'

/** A client in an answer. Names are those of RFC 7591 where it defines them. Members that were not registered are absent. */
export const CLIENT = z
  .object({
    client_id: z.string(),
    client_id_issued_at: z.int().describe('Seconds since the epoch.'),
    has_secret: z.boolean(),
    previous_secret_until: ISO_OR_NULL.describe('The previous secret is valid until this time.'),
    approved_scope: z.string().describe('The scopes that the client is approved for.'),
    used_at: ISO_OR_NULL.describe('When the client first got a token; null: never.'),
    last_used_at: ISO_OR_NULL.describe('When the client last got a token, to the minute; null: never.'),
    verified_at: ISO_OR_NULL,
    disabled_at: ISO_OR_NULL,
    not_before: ISO_OR_NULL.describe('The not-before time: tokens of the client issued earlier are revoked.'),
    redirect_uris: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    scope: z.string().optional(),
    client_name: z.string().optional(),
    client_uri: z.string().optional(),
    logo_uri: z.string().optional(),
    tos_uri: z.string().optional(),
    policy_uri: z.string().optional(),
    software_id: z.string().optional(),
    software_version: z.string().optional(),
    contacts: z.array(z.string()).optional(),
  })
  .meta({ id: 'Client' })

export type ClientDocument = z.output<typeof CLIENT>

/** A client as the operator sees it, without the hashes of its secrets. */
export function describeClient(client: ClientRecord): z.output<typeof CLIENT> {
  const { id, issuedAt, metadata, secretHash, previousSecret } = client
  return {
    client_id: id,
    client_id_issued_at: issuedAt,
    has_secret: secretHash !== undefined,
    previous_secret_until: isoOrNull(previousSecret?.until),
    approved_scope: client.approvedScope,
    used_at: isoOrNull(client.usedAt),
    last_used_at: isoOrNull(client.lastUsedAt),
    verified_at: isoOrNull(client.verifiedAt),
    disabled_at: isoOrNull(client.disabledAt),
    not_before: isoOrNull(client.notBefore),
    ...(describeMetadata(metadata) as MetadataMembers),
  }
}

/** The members that `describeMetadata` returns. */
type MetadataMembers = Pick<
  z.output<typeof CLIENT>,
  'redirect_uris' | 'token_endpoint_auth_method' | 'grant_types' | 'response_types'
>
