import * as z from 'zod'
import type { ClientRecord } from '../ports/records/client.ts'
import { SECRET_OVERLAP } from '../principals/rotate-client-secret.ts'
import { describeMetadata } from '../protocol/client-metadata.ts'
import { changeTasks } from './change-tasks.ts'
import {
  approveScopes,
  deleteClient,
  disableClient,
  enableClient,
  listClients,
  requireClient,
  revokeTokensOfClient,
  rotateSecret,
  unverifyClient,
  verifyClient,
} from './clients.ts'
import { CLIENT_ID, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NEXT, SCOPE, TIME, pageStart } from './fields.ts'
import { JWT_ACCEPTANCE, withDeletion } from './jwt-acceptance.ts'
import { defineTask, type Task } from './task.ts'

/** A client in an answer. Names are those of RFC 7591 where it defines them. Members that were not registered are absent. */
const CLIENT_DOCUMENT = z
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
    token_endpoint_auth_signing_alg: z.string().optional(),
    jwks: z
      .object({ keys: z.array(z.record(z.string(), z.unknown())) })
      .optional()
      .describe('The public keys of a client with `private_key_jwt`.'),
    jwks_uri: z.string().optional().describe('Where the server fetches its public keys instead.'),
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

export type ClientDocument = z.output<typeof CLIENT_DOCUMENT>

/** A client as the operator sees it, without the hashes of its secrets. */
function describeClient(client: ClientRecord): z.output<typeof CLIENT_DOCUMENT> {
  const { id, issuedAt, metadata, previousSecret } = client
  return {
    client_id: id,
    client_id_issued_at: issuedAt,
    has_secret: ['client_secret_post', 'client_secret_basic'].includes(metadata.authMethod),
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
  z.output<typeof CLIENT_DOCUMENT>,
  'redirect_uris' | 'token_endpoint_auth_method' | 'grant_types' | 'response_types'
>

const PATH = '/admin/v1/clients'
const ONE = z.object({ client_id: CLIENT_ID })
const { change, end } = changeTasks({
  noun: 'client',
  path: `${PATH}/{client_id}`,
  extent: 'server',
  input: ONE,
  output: CLIENT_DOCUMENT,
  describe: describeClient,
  endOf: (client: ClientRecord) => client,
})

export const CLIENT_TASKS: readonly Task[] = [
  defineTask({
    name: 'client.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the registered clients, newest first.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(CLIENT_ID),
      used: z.boolean().optional().describe('Whether the client ever got a token.'),
      verified: z.boolean().optional(),
      disabled: z.boolean().optional(),
      unused_since: TIME.optional().describe(
        'Clients that got no token since this time (clients that never got one included).',
      ),
    }),
    output: z.object({ clients: z.array(CLIENT_DOCUMENT), next: NEXT }),
    async run(context, { limit, before, used, verified, disabled, unused_since }) {
      const { rows, next } = await listClients(context, {
        limit,
        before,
        isUsed: used,
        isVerified: verified,
        isDisabled: disabled,
        unusedSince: unused_since,
      })
      return { clients: rows.map(describeClient), next: next ?? null }
    },
  }),
  defineTask({
    name: 'client.show',
    method: 'GET',
    path: `${PATH}/{client_id}`,
    access: 'read',
    summary: 'Show everything about a client except its secret.',
    input: ONE,
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id }) => describeClient(await requireClient(context, client_id)),
  }),
  change('verify', 'Mark a client as verified. The consent page shows the mark.', (context, { client_id }) =>
    verifyClient(context, client_id),
  ),
  change('unverify', "Remove a client's verified mark.", (context, { client_id }) =>
    unverifyClient(context, client_id),
  ),
  end('disable', 'Disable a client: its credentials and tokens stop working.', (context, { client_id }) =>
    disableClient(context, client_id),
  ),
  change('enable', 'Enable a disabled client.', (context, { client_id }) => enableClient(context, client_id)),
  end('revoke-tokens', 'Revoke all tokens of a client. It can request new ones.', (context, { client_id }) =>
    revokeTokensOfClient(context, client_id),
  ),
  defineTask({
    name: 'client.approve-scopes',
    method: 'PUT',
    path: `${PATH}/{client_id}/approved-scope`,
    access: 'write',
    summary: 'Replace the scopes that a client is approved for.',
    input: ONE.extend({
      scope: SCOPE.describe('Scopes that only approved clients may have, separated by spaces; empty: none.'),
    }),
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id, scope }) => describeClient(await approveScopes(context, client_id, scope)),
  }),
  defineTask({
    name: 'client.rotate-secret',
    method: 'POST',
    path: `${PATH}/{client_id}/secret`,
    access: 'write',
    summary: 'Create a new secret for a client, shown once. The previous secret stays valid for a while.',
    input: ONE.extend({
      overlap_seconds: z
        .int()
        .min(0)
        .max(SECRET_OVERLAP.most)
        .default(SECRET_OVERLAP.usual)
        .describe('How long the previous secret stays valid.'),
    }),
    output: z.object({ client_id: z.string(), client_secret: z.string(), previous_secret_until: ISO }),
    async run(context, { client_id, overlap_seconds }) {
      const { id, secret, previousUntil } = await rotateSecret(context, client_id, overlap_seconds)
      return { client_id: id, client_secret: secret, previous_secret_until: iso(previousUntil) }
    },
  }),
  defineTask({
    name: 'client.delete',
    method: 'DELETE',
    path: `${PATH}/{client_id}`,
    access: 'write',
    summary: 'Delete a client.',
    input: ONE,
    output: z.object({ client_id: z.string(), deleted: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { client_id }) {
      await deleteClient(context, client_id)
      return withDeletion(context, { client_id, deleted: true as const })
    },
  }),
]
