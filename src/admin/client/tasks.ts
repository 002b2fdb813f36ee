import * as z from 'zod'
import { describeClientInformation } from '../../clients/client-information.ts'
import { SECRET_OVERLAP } from '../../clients/rotate-secret.ts'
import { CLIENT_MEMBERS } from '../../protocol/client/members.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import { isOperatorMade } from '../../protocol/client/policy.ts'
import { NO_SCOPE, scopeTokens } from '../../protocol/token/scope.ts'
import { conflict } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { CHOSEN_CLIENT_ID, CLIENT_ID, GIVEN_SECRET, LIMIT, NEXT, SCOPE, TIME, pageStart } from '../fields.ts'
import { PAGE_LIMIT } from '../page.ts'
import { defineTask, type Task } from '../task.ts'
import { requireLasting } from '../administrators.ts'
import {
  createManagementToken,
  giveSecret,
  noSuchClient,
  requireClient,
  requireLastingTrust,
  rotateSecret,
} from './client.ts'
import {
  CLIENT_DOCUMENT,
  describeClient,
  describeRules,
  describeUnder,
  isShownVerified,
  METADATA_MEMBERS,
  PURGED_CLIENT,
  RULED_CLIENT,
  RULES_INPUT,
  SOURCE,
  TRUST_LEVEL,
} from './document.ts'
import {
  adoptClient,
  createClient,
  KEYS,
  METADATA_CHANGE,
  NEW_METADATA,
  setKeys,
  setRules,
  updateClient,
} from './metadata.ts'
import { findClients, purgeClients, sparedAs } from './search.ts'

const PATH = '/admin/v1/clients'
const VERIFYING = 'mark a client that registered as verified'
const ONE = z.object({ client_id: CLIENT_ID })
/** The filters of lists of clients. */
const SEARCH = {
  source: SOURCE.optional(),
  trust_level: TRUST_LEVEL.optional(),
  name: CLIENT_MEMBERS.client_name.input.optional().describe('Only clients with this text in a name, in any case.'),
  text: CLIENT_MEMBERS.client_name.input
    .optional()
    .describe('Only clients with this text in a name or a host, in any case.'),
  host: z
    .string()
    .max(253)
    .regex(/^(?:\*\.)?[A-Za-z0-9._:[\]-]+$/, { error: 'This is not a host.' })
    .meta({ examples: ['app.example'] })
    .optional()
    .describe(
      'Only clients with a redirect URI, a logout URI or a metadata document at this host, or below it after `*.`; for an app its scheme, such as `zed:`.',
    ),
  used: z.boolean().optional().describe('Whether the client ever got a token.'),
  verified: z.boolean().optional().describe('Whether the client is verified.'),
  disabled: z.boolean().optional().describe('Whether the client is disabled.'),
  unused_since: TIME.optional().describe('Only clients that got no token since this time, or never.'),
}
const OVERLAP = z
  .int()
  .min(0)
  .max(SECRET_OVERLAP.most)
  .default(SECRET_OVERLAP.usual)
  .describe('How long the previous secret stays valid.')
const { change, end, remove } = changeTasks({
  noun: 'client',
  path: `${PATH}/{client_id}`,
  extent: 'server',
  access: 'write',
  input: ONE,
  output: CLIENT_DOCUMENT,
  find: (context, { client_id: id }) => requireClient(context, id),
  missing: ({ client_id: id }) => noSuchClient(id),
  describe: describeClient,
  endOf: (client) => client,
})

/** What a registration would answer: RFC 7591 §3.2.1. */
const CREATED = z
  .object({
    client_id: z.string(),
    client_secret: z.string().optional().describe('Shown once. Absent for a public client and a client with keys.'),
    client_id_issued_at: z.int().describe('Seconds since the epoch.'),
    client_secret_expires_at: z.literal(0).optional().describe('0: the secret does not expire.'),
    ...METADATA_MEMBERS,
  })
  .meta({ id: 'CreatedClient' })

export type CreatedClientDocument = z.output<typeof CREATED>

export const CLIENT_TASKS: readonly Task[] = [
  defineTask({
    name: 'client.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the clients, newest first; then those whose id was chosen, in the order of their records.',
    input: z.object({ limit: LIMIT, before: pageStart(CLIENT_ID), ...SEARCH }),
    output: z.object({ clients: z.array(CLIENT_DOCUMENT), next: NEXT }),
    async run(context, { limit, before, ...search }) {
      const { policy, rows, next } = await findClients(context, search, { limit, before })
      return { clients: rows.map((client) => describeUnder(policy, client)), next }
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
  change(
    'verify',
    'Mark a client as verified. The consent page shows the mark.',
    ({ administrator, store, clock }, { client_id: id }) => {
      requireLasting(administrator, VERIFYING)
      return store.verifyClient({ id, now: clock() })
    },
    { undo: 'client.unverify', already: isShownVerified },
  ),
  change(
    'unverify',
    "Remove a client's verified mark.",
    async (context, { client_id: id }) => {
      const client = await requireClient(context, id)
      if (!isOperatorMade(client)) return context.store.unverifyClient(id)
      throw conflict(
        `The client ${listedIdOf(client)} was created by an operator, so it is always verified. To stop it: grantor client disable`,
      )
    },
    { undo: 'client.verify', already: (client) => !isShownVerified(client) },
  ),
  end('disable', 'Disable a client: its credentials and tokens stop working.', ({ store, clock }, { client_id: id }) =>
    store.disableClient({ id, now: clock() }),
  ),
  change(
    'enable',
    'Enable a disabled client.',
    async (context, { client_id: id }) => {
      requireLastingTrust(context, await requireClient(context, id))
      return context.store.enableClient(id)
    },
    { undo: 'client.disable' },
  ),
  end(
    'revoke-tokens',
    'Revoke all tokens of a client. It can request new ones.',
    ({ store, clock }, { client_id: id }) => store.revokeClientTokens({ id, now: clock() }),
  ),
  defineTask({
    name: 'client.approve-scopes',
    method: 'PUT',
    path: `${PATH}/{client_id}/approved-scope`,
    access: 'write',
    summary: 'Replace the scopes that a client is approved for.',
    undo: 'client.approve-scopes',
    needsRecentSignIn: true,
    input: ONE.extend({
      scope: SCOPE.describe('Scopes that only approved clients may have, separated by spaces; empty: none.'),
    }),
    output: CLIENT_DOCUMENT.extend({
      notice: z.string().nullable().describe('What the approval may be mistaken about; null: nothing.'),
    }).meta({ id: 'ApprovedClient' }),
    async run(context, { client_id: id, scope }) {
      const previous = await requireClient(context, id)
      requireLastingTrust(context, { ...previous, approvedScope: scope })
      if ((await context.store.approveClientScope({ id, scope, previous })) === 'conflict')
        throw conflict(`The client ${id} was changed or deleted at the same time. Try again.`)
      const declared = new Set((await context.store.listApis()).flatMap(({ scopes }) => scopes.map(({ name }) => name)))
      const unknown = scopeTokens(scope).filter((name) => !declared.has(name))
      const notice =
        unknown.length === 0 ? null : `No API declares ${unknown.join(', ')}. Check the spelling: grantor api list`
      return { ...(await describeClient(await requireClient(context, id), context)), notice }
    },
  }),
  defineTask({
    name: 'client.rotate-secret',
    method: 'POST',
    path: `${PATH}/{client_id}/secret`,
    access: 'write',
    summary: 'Create a new secret for a client, shown once. The previous secret stays valid for a while.',
    secret: { member: 'client_secret', beside: ['client_id'] },
    input: ONE.extend({ overlap_seconds: OVERLAP }),
    output: z.object({ client_id: z.string(), client_secret: z.string(), previous_secret_until: ISO }),
    async run(context, { client_id, overlap_seconds }) {
      const client = await requireClient(context, client_id)
      requireLastingTrust(context, client)
      const { secret, previousUntil } = await rotateSecret(context, client, overlap_seconds)
      return {
        client_id: listedIdOf(client),
        client_secret: secret,
        previous_secret_until: iso(previousUntil),
      }
    },
  }),
  defineTask({
    name: 'client.set-secret',
    method: 'PUT',
    path: `${PATH}/{client_id}/secret`,
    access: 'write',
    summary:
      'Give a client the secret that it has already, for example at the server that it used before. The previous secret stays valid for a while.',
    needsRecentSignIn: true,
    input: ONE.extend({ client_secret: GIVEN_SECRET, overlap_seconds: OVERLAP }),
    output: z.object({
      client_id: z.string(),
      outcome: z.enum(['set', 'unchanged']).describe('unchanged: the client has this secret already.'),
      previous_secret_until: ISO_OR_NULL.describe(
        'The previous secret is valid until this time; null: nothing changed.',
      ),
    }),
    async run(context, { client_id, client_secret: secret, overlap_seconds: overlapSeconds }) {
      const client = await requireClient(context, client_id)
      requireLastingTrust(context, client)
      const previousUntil = await giveSecret(context, client, { secret, overlapSeconds })
      const outcome = previousUntil === undefined ? ('unchanged' as const) : ('set' as const)
      return { client_id: listedIdOf(client), outcome, previous_secret_until: isoOrNull(previousUntil) }
    },
  }),
  remove('delete', 'Delete a client. Its tokens stop working.', ({ store }, { client_id: id }) =>
    store.deleteClient(id),
  ),
  defineTask({
    name: 'client.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary:
      'Create a client that the operator manages. It is verified and never removed, and its secret is shown once.',
    secret: { member: 'client_secret', beside: ['client_id'] },
    input: NEW_METADATA.extend({
      client_id: CHOSEN_CLIENT_ID.optional(),
      approved_scope: SCOPE.default(NO_SCOPE).describe('The scopes that the client is approved for.'),
      rules: z.strictObject(RULES_INPUT).prefault({}).describe('The rules of the client.'),
    }),
    output: CREATED,
    async run(context, { client_id: chosenId, approved_scope: approvedScope, rules, ...metadata }) {
      requireLastingTrust(context, { approvedScope, rules })
      const { client, secret } = await createClient(context, { chosenId, metadata, rules, approvedScope })
      return describeClientInformation({ ...client, id: listedIdOf(client) }, secret) as CreatedClientDocument
    },
  }),
  defineTask({
    name: 'client.update',
    method: 'PATCH',
    path: `${PATH}/{client_id}`,
    access: 'write',
    summary: 'Change a client that the operator manages.',
    needsRecentSignIn: true,
    input: ONE.extend(METADATA_CHANGE.shape),
    output: CLIENT_DOCUMENT,
    async run(context, { client_id, ...changes }) {
      requireLastingTrust(context, await requireClient(context, client_id))
      return describeClient(await updateClient(context, client_id, changes), context)
    },
  }),
  defineTask({
    name: 'client.set-rules',
    method: 'PUT',
    path: `${PATH}/{client_id}/rules`,
    access: 'write',
    summary:
      'Replace the rules of a client that the operator manages. A rule that is absent has its default. Any other client can have the rule copies strict alone.',
    needsRecentSignIn: true,
    input: ONE.extend(RULES_INPUT),
    output: RULED_CLIENT,
    async run(context, { client_id, ...rules }) {
      requireLastingTrust(context, { ...(await requireClient(context, client_id)), rules })
      const { client, previous } = await setRules(context, client_id, rules)
      return { ...(await describeClient(client, context)), previous_rules: describeRules(previous) }
    },
  }),
  defineTask({
    name: 'client.set-keys',
    method: 'PUT',
    path: `${PATH}/{client_id}/keys`,
    access: 'write',
    summary:
      'Replace the public keys of a client that the operator manages. From then on it authenticates with private_key_jwt.',
    exactlyOneOf: ['jwks', 'jwks_uri'],
    needsRecentSignIn: true,
    input: ONE.extend({ ...KEYS, jwks_uri: KEYS.jwks_uri.meta({ examples: ['https://app.example/jwks.json'] }) }),
    output: CLIENT_DOCUMENT,
    async run(context, { client_id, ...keys }) {
      requireLastingTrust(context, await requireClient(context, client_id))
      return describeClient(await setKeys(context, client_id, keys), context)
    },
  }),
  defineTask({
    name: 'client.adopt',
    method: 'POST',
    path: `${PATH}/{client_id}/adopt`,
    access: 'write',
    summary:
      'Take over a registered client: from then on the operator manages it. Its id, secret and tokens stay; it no longer manages itself.',
    needsRecentSignIn: true,
    input: ONE,
    output: CLIENT_DOCUMENT,
    async run(context, { client_id }) {
      requireLasting(context.administrator, VERIFYING)
      return describeClient(await adoptClient(context, client_id), context)
    },
  }),
  defineTask({
    name: 'client.create-registration-token',
    method: 'POST',
    path: `${PATH}/{client_id}/registration-token`,
    access: 'write',
    creates: true,
    summary:
      'Create a new registration access token for a registered client, shown once. The previous one stops working.',
    secret: { member: 'registration_access_token', beside: ['client_id'] },
    input: ONE,
    output: z.object({ client_id: z.string(), registration_access_token: z.string() }),
    async run(context, { client_id }) {
      requireLastingTrust(context, await requireClient(context, client_id))
      return { client_id, registration_access_token: await createManagementToken(context, client_id) }
    },
  }),
  defineTask({
    name: 'client.purge',
    method: 'POST',
    path: `${PATH}/purge`,
    access: 'write',
    summary:
      'Delete clients by filters, oldest first: by default those that never got a token. Clients that the operator manages only with `source`. A call examines up to 25,000 clients and deletes up to 1,000; `next` says where the next one goes on.',
    needsRecentSignIn: true,
    isFinal: true,
    input: z.object({
      limit: z
        .int()
        .min(1)
        .max(PAGE_LIMIT.most)
        .default(PAGE_LIMIT.most)
        .describe(`At most this many clients, up to ${PAGE_LIMIT.most}.`),
      before: pageStart(CLIENT_ID),
      dry_run: z.boolean().default(false).describe('Only list the clients that would be deleted.'),
      ...SEARCH,
    }),
    output: z.object({
      dry_run: z.boolean(),
      clients: z.array(PURGED_CLIENT),
      examined: z.int().describe('How many clients the call examined.'),
      next: NEXT,
    }),
    async run(context, { limit, before, dry_run, ...search }) {
      const now = context.clock()
      const purged = await purgeClients(context, search, { limit, before, isDryRun: dry_run })
      const clients = purged.rows.map((client) => ({
        ...describeUnder(purged.policy, client),
        spared_as: sparedAs(client, now) ?? null,
      }))
      return { dry_run, clients, examined: purged.examined, next: purged.next }
    },
  }),
]
