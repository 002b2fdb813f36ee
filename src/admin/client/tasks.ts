import * as z from 'zod'
import type { ClientRecord } from '../../ports/records/client.ts'
import { SECRET_OVERLAP } from '../../clients/rotate-secret.ts'
import { CLIENT_DOCUMENT, describeClient, describeUnder, SOURCE, TRUST_LEVEL } from './document.ts'
import { changeTasks } from '../change-tasks.ts'
import {
  approveScopes,
  deleteClient,
  disableClient,
  enableClient,
  requireClient,
  revokeTokensOfClient,
  rotateSecret,
  unverifyClient,
  verifyClient,
} from './client.ts'
import { findClients } from './search.ts'
import { CLIENT_ID, ISO, iso, LIMIT, NEXT, SCOPE, TIME, pageStart } from '../fields.ts'
import { JWT_ACCEPTANCE, withDeletion } from '../jwt-acceptance.ts'
import { defineTask, type Task } from '../task.ts'

export const PATH = '/admin/v1/clients'
export const ONE = z.object({ client_id: CLIENT_ID })
/** The filters of lists of clients. */
export const SEARCH = {
  source: SOURCE.optional(),
  trust_level: TRUST_LEVEL.optional(),
  host: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9._:[\]-]+$/, { error: 'This is not a host.' })
    .meta({ examples: ['app.example'] })
    .optional()
    .describe('Clients with a redirect URI, a logout URI or a metadata document at this host.'),
  used: z.boolean().optional().describe('Whether the client ever got a token.'),
  verified: z.boolean().optional(),
  disabled: z.boolean().optional(),
  unused_since: TIME.optional().describe(
    'Clients that got no token since this time (clients that never got one included).',
  ),
}
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
    input: z.object({ limit: LIMIT, before: pageStart(CLIENT_ID), ...SEARCH }),
    output: z.object({ clients: z.array(CLIENT_DOCUMENT), next: NEXT }),
    async run(context, { limit, before, ...search }) {
      const { policy, rows, next } = await findClients(context, search, { limit, before })
      return { clients: rows.map((client) => describeUnder(policy, client)), next: next ?? null }
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
    run: async (context, { client_id }) => describeClient(await requireClient(context, client_id), context),
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
    run: async (context, { client_id, scope }) =>
      describeClient(await approveScopes(context, client_id, scope), context),
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
