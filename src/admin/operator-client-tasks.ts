import * as z from 'zod'
import { describeClientInformation } from '../clients/client-information.ts'
import { ASSERTION_ALGORITHMS, KEY_LIMIT } from '../protocol/client/keys.ts'
import { CLIENT_AUTH_METHODS } from '../protocol/client/metadata.ts'
import { LIST_LIMIT as METADATA_LIST_LIMIT } from '../protocol/client/descriptive-metadata.ts'
import { OFFERED_GRANT_TYPES } from '../protocol/token/grant-types.ts'
import { ID_TOKEN_ALGORITHMS } from '../protocol/openid/id-token.ts'
import { MAX_AGE_LIMIT } from '../protocol/client/openid-metadata.ts'
import { NO_SCOPE } from '../protocol/token/scope.ts'
import { CLIENT_DOCUMENT, describeClient, describeUnder, METADATA_MEMBERS, RULES_WISH } from './client/document.ts'
import { ONE, PATH, SEARCH } from './client/tasks.ts'
import { createManagementToken } from './client/client.ts'
import { CLIENT_ID, CLIENT_NAME, NEXT, pageStart, SCOPE } from './fields.ts'
import { adoptClient, createClient, setKeys, setRules, updateClient } from './client/metadata.ts'
import { LIST_LIMIT } from './page.ts'
import { purgeClients } from './client/search.ts'
import { defineTask, type Task } from './task.ts'

/** The metadata that an administrator can give a client, by the names of RFC 7591. */
const METADATA = {
  client_name: CLIENT_NAME,
  redirect_uris: uris('https://app.example/callback').describe('Exact redirect URIs.'),
  grant_types: z
    .array(z.enum(OFFERED_GRANT_TYPES))
    .max(METADATA_LIST_LIMIT)
    .describe('By default authorization_code and refresh_token, or without redirect URIs client_credentials.'),
  scope: SCOPE.describe('The registered scope, separated by spaces.'),
  id_token_signed_response_alg: z
    .enum(ID_TOKEN_ALGORITHMS)
    .meta({ examples: ['ES256'] })
    .describe('How its ID tokens are signed; by default RS256.'),
  default_max_age: z
    .int()
    .min(0)
    .max(MAX_AGE_LIMIT)
    .meta({ examples: [3600] })
    .describe('Seconds: `max_age` of its authorization requests that have none.'),
  require_auth_time: z
    .boolean()
    .meta({ examples: [true] })
    .describe('Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again.'),
  post_logout_redirect_uris: uris('https://app.example/signed-out').describe(
    'Exact URIs to which the browser may return after a logout.',
  ),
  backchannel_logout_uri: z
    .string()
    .max(2048)
    .regex(/^(https?:\/\/[\x21-\x7e]+)?$/, { error: 'This is not a URL.' })
    .meta({ examples: ['https://app.example/backchannel-logout'] })
    .describe('Where the server notifies it when a session of a user ends. Empty: nowhere.'),
  backchannel_logout_session_required: z
    .boolean()
    .meta({ examples: [true] })
    .describe('Whether logout tokens must have a `sid`. They have one in any case.'),
}
const OPTIONAL_METADATA = z.object(METADATA).partial().shape

function uris(example: string) {
  return z
    .array(
      z
        .string()
        .max(2048)
        .regex(/^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/, { error: 'This is not an absolute URI with a lower-case scheme.' })
        .meta({ examples: [example] }),
    )
    .max(METADATA_LIST_LIMIT)
}

/** The public keys of a client, by the names of RFC 7591. */
const KEYS = {
  jwks: z
    .object({ keys: z.array(z.looseObject({})).max(KEY_LIMIT) })
    .meta({ examples: [{ keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }] })
    .optional()
    .describe('The public keys as a JWK Set (RFC 7517 §5). Private keys are rejected.'),
  jwks_uri: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not a URL.' })
    .optional()
    .describe('Where the server fetches the public keys instead.'),
  token_endpoint_auth_signing_alg: z
    .enum(ASSERTION_ALGORITHMS)
    .meta({ examples: ['EdDSA'] })
    .optional()
    .describe('The one algorithm of its assertions.'),
}

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

/** Tasks on clients that administrators create, and what else is theirs to do with clients. */
export const OPERATOR_CLIENT_TASKS: readonly Task[] = [
  defineTask({
    name: 'client.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create a client of the operator. It is verified and never removed, and its secret is shown once.',
    input: z.object({
      ...OPTIONAL_METADATA,
      client_name: METADATA.client_name,
      token_endpoint_auth_method: z
        .enum(CLIENT_AUTH_METHODS)
        .meta({ examples: ['private_key_jwt'] })
        .optional()
        .describe(
          'By default client_secret_basic, or with keys private_key_jwt. none: a public client, which has no secret.',
        ),
      ...KEYS,
      approved_scope: SCOPE.default(NO_SCOPE).describe('The scopes that the client is approved for.'),
      rules: z.strictObject(RULES_WISH).prefault({}),
    }),
    output: CREATED,
    async run(context, { approved_scope: approvedScope, rules, ...metadata }) {
      const { client, secret } = await createClient(context, { metadata, rules, approvedScope })
      return describeClientInformation(client, secret) as CreatedClientDocument
    },
  }),
  defineTask({
    name: 'client.update',
    method: 'PATCH',
    path: `${PATH}/{client_id}`,
    access: 'write',
    summary: 'Change a client of the operator. What is not given does not change.',
    input: ONE.extend(OPTIONAL_METADATA),
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id, ...changes }) =>
      describeClient(await updateClient(context, client_id, changes), context),
  }),
  defineTask({
    name: 'client.set-rules',
    method: 'PUT',
    path: `${PATH}/{client_id}/rules`,
    access: 'write',
    summary: 'Replace the rules of a client of the operator. A rule that is not given has its default.',
    input: ONE.extend(RULES_WISH),
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id, ...rules }) => describeClient(await setRules(context, client_id, rules), context),
  }),
  defineTask({
    name: 'client.set-keys',
    method: 'PUT',
    path: `${PATH}/{client_id}/keys`,
    access: 'write',
    summary: 'Replace the public keys of a client of the operator. From now on it authenticates with private_key_jwt.',
    exactlyOneOf: ['jwks', 'jwks_uri'],
    input: ONE.extend({ ...KEYS, jwks_uri: KEYS.jwks_uri.meta({ examples: ['https://app.example/jwks.json'] }) }),
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id, ...keys }) => describeClient(await setKeys(context, client_id, keys), context),
  }),
  defineTask({
    name: 'client.adopt',
    method: 'POST',
    path: `${PATH}/{client_id}/adopt`,
    access: 'write',
    summary:
      'Make a registered client one of the operator. Its id, secret and tokens stay; it no longer manages itself.',
    input: ONE,
    output: CLIENT_DOCUMENT,
    run: async (context, { client_id }) => describeClient(await adoptClient(context, client_id), context),
  }),
  defineTask({
    name: 'client.create-registration-token',
    method: 'POST',
    path: `${PATH}/{client_id}/registration-token`,
    access: 'write',
    creates: true,
    summary:
      'Create a new registration access token for a registered client, shown once. The previous one stops working.',
    input: ONE,
    output: z.object({ client_id: z.string(), registration_access_token: z.string() }),
    async run(context, { client_id }) {
      const { id, token } = await createManagementToken(context, client_id)
      return { client_id: id, registration_access_token: token }
    },
  }),
  defineTask({
    name: 'client.purge',
    method: 'POST',
    path: `${PATH}/purge`,
    access: 'write',
    summary:
      'Delete clients by filters, up to 1,000 at a time: by default those that never got a token. Clients of the operator only with `source`.',
    input: z.object({
      limit: z
        .int()
        .min(1)
        .max(LIST_LIMIT.most)
        .default(LIST_LIMIT.most)
        .describe(`At most this many clients, up to ${LIST_LIMIT.most}.`),
      before: pageStart(CLIENT_ID),
      dry_run: z.boolean().default(false).describe('Only list the clients that would be deleted.'),
      ...SEARCH,
    }),
    output: z.object({ dry_run: z.boolean(), clients: z.array(CLIENT_DOCUMENT), next: NEXT }),
    async run(context, { limit, before, dry_run, ...search }) {
      const { policy, rows, next } = await purgeClients(context, search, { limit, before, isDryRun: dry_run })
      return { dry_run, clients: rows.map((client) => describeUnder(policy, client)), next: next ?? null }
    },
  }),
]
