import * as z from 'zod'
import type { ClientRecord } from '../ports/records/client.ts'
import type { ClientId } from '../protocol/ids.ts'
import { SECRET_OVERLAP } from '../principals/rotate-client-secret.ts'
import {
  approveScopes,
  deleteClient,
  disableClient,
  enableClient,
  revokeTokensOfClient,
  listClients,
  rotateSecret,
  showClient,
  unverifyClient,
  verifyClient,
} from './clients.ts'
import { CLIENT, describeClient } from './describe-client.ts'
import { before, CLIENT_ID, ISO, iso, LIMIT, TIME, NEXT, SCOPE } from './fields.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

const PATH = '/admin/v1/clients'
const ONE = z.object({ client_id: CLIENT_ID })

/** A task that changes one client and returns the changed client. */
function change(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: ClientId) => Promise<ClientRecord>,
): Task<typeof ONE, typeof CLIENT> {
  return defineTask({
    name: `client.${verb}`,
    method: 'POST',
    path: `${PATH}/{client_id}/${verb}`,
    access: 'write',
    anyClock: verb === 'disable' || verb === 'unverify',
    summary,
    input: ONE,
    output: CLIENT,
    run: async (context, { client_id }) => describeClient(await run(context, client_id)),
  })
}

const ENDED_CLIENT = CLIENT.extend(JWT_ACCEPTANCE).meta({ id: 'EndedClient' })

/** A change that revokes the tokens of the client. */
function end(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: ClientId) => Promise<ClientRecord>,
): Task<typeof ONE, typeof ENDED_CLIENT> {
  return defineTask({
    ...change(verb, summary, run),
    output: ENDED_CLIENT,
    async run(context, { client_id }) {
      const client = await run(context, client_id)
      return withJwtAcceptance(context, describeClient(client), client)
    },
  })
}

export const CLIENT_TASKS: readonly Task[] = [
  defineTask({
    name: 'client.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the registered clients, newest first.',
    input: z.object({
      limit: LIMIT,
      before: before(CLIENT_ID),
      used: z.boolean().optional().describe('Whether the client ever got a token.'),
      verified: z.boolean().optional(),
      disabled: z.boolean().optional(),
      unused_since: TIME.optional().describe('Clients that have got no token since this time, or never.'),
    }),
    output: z.object({ clients: z.array(CLIENT), next: NEXT }),
    async run(context, { limit, before: start, used, verified, disabled, unused_since }) {
      const { rows, next } = await listClients(context, {
        limit,
        before: start,
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
    output: CLIENT,
    run: async (context, { client_id }) => describeClient(await showClient(context, client_id)),
  }),
  change('verify', 'Mark a client as verified. The consent page shows the mark.', verifyClient),
  change('unverify', "Remove a client's verified mark.", unverifyClient),
  end('disable', 'Disable a client: its credentials and tokens stop working.', disableClient),
  change('enable', 'Enable a disabled client.', enableClient),
  end('revoke-tokens', 'Revoke all tokens of a client. It can request new ones.', revokeTokensOfClient),
  defineTask({
    name: 'client.approve-scopes',
    method: 'PUT',
    path: `${PATH}/{client_id}/approved-scope`,
    access: 'write',
    summary: 'Replace the scopes that a client is approved for.',
    input: ONE.extend({
      scope: SCOPE.describe('Scopes that only approved clients may have, separated by spaces; empty: none.'),
    }),
    output: CLIENT,
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
