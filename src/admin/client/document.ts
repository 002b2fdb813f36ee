import * as z from 'zod'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { PolicyNeeds } from '../../clients/evaluate-client.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import { describeMetadata, type ClientMetadata } from '../../protocol/client/metadata.ts'
import {
  CLIENT_SOURCES,
  COPIES_RULES,
  evaluateClientPolicy,
  ownCopiesOf,
  SHOWN_LEVELS,
  type ClientPolicy,
  DEFAULT_RULES,
  type ClientRules,
  type ShownLevel,
} from '../../protocol/client/policy.ts'
import { ISO_OR_NULL, isoOrNull } from '../fields.ts'

export const SOURCE = z
  .enum(CLIENT_SOURCES)
  .describe(
    'operator: an administrator created or adopted the client. registration: it registered. document: its client_id is the URL of its metadata document.',
  )
export const TRUST_LEVEL = z
  .enum(SHOWN_LEVELS)
  .describe(
    'verified: the operator created or verified the client. known-domain: all of its domains are trusted. blocked: one of them is blocked.',
  )
/** The rules of a client. A rule that is not given has its default. */
const RULES = {
  consent: z
    .enum(['asked', 'implied'])
    .default('asked')
    .describe(
      'implied: the users of this first-party client are not asked for consent to the scope that it is registered for, where its redirect URI uses https, or is a loopback one of a server on the same computer.',
    ),
  pkce: z
    .enum(['required', 'nonce', 'optional'])
    .describe(
      'When this client may omit PKCE: never, in a request with `openid`, a `nonce` and an https redirect URI, or in every request, because it cannot do otherwise. A public client may never omit it.',
    ),
  claims: z
    .enum(['userinfo', 'id-token'])
    .default('id-token')
    .describe(
      'Where the client finds the claims of its scope: at the userinfo endpoint only, or also in its ID tokens.',
    ),
  profile: z
    .enum(['standard', 'fapi2'])
    .describe('fapi2: the client must meet the FAPI 2.0 Security Profile. It needs private_key_jwt.'),
  copies: z
    .enum(COPIES_RULES)
    .optional()
    .describe(
      'What an earlier refresh token of the client gets: the newest one in the network that has it (network), or nothing (strict). The default is GRANTOR_REFRESH_COPIES for a public client, and strict for another one.',
    ),
}

/** The rules that an administrator gives a client. */
export const RULES_INPUT = {
  ...RULES,
  profile: RULES.profile.optional().describe(`${RULES.profile.description} The default is standard.`),
  pkce: RULES.pkce
    .meta({ examples: ['nonce'] })
    .optional()
    .describe(`${RULES.pkce.description} The default is nonce, or required for a public client.`),
}

export type RulesInput = z.output<z.ZodObject<typeof RULES_INPUT>>

/** Without a rule for PKCE, a client that authenticates may send a `nonce` instead, because many applications send one and no PKCE. */
export function rulesOf(
  { pkce, profile = 'standard', copies, ...rules }: RulesInput,
  { authMethod }: Pick<ClientMetadata, 'authMethod'>,
): ClientRules {
  const usual = { ...rules, profile, pkce: pkce ?? (authMethod === 'none' ? 'required' : 'nonce') } as const
  return copies === undefined ? usual : { ...usual, copies }
}

/**
 * The rules of a client that the operator did not create: those of all such clients, and that its copies are strict, or are so no more.
 * undefined: it cannot have what is given.
 */
export function strictRulesOf(
  { consent, pkce = 'required', profile = 'standard', copies }: RulesInput,
  { copies: before }: ClientRules,
): ClientRules | undefined {
  if (consent !== 'asked' || pkce !== 'required' || profile !== 'standard') return undefined
  if (copies === 'strict') return { ...DEFAULT_RULES, copies }
  return copies === undefined && before !== undefined ? DEFAULT_RULES : undefined
}

/** What members mean, in inputs and answers. */
export const METADATA_TEXTS = {
  id_token_signed_response_alg: 'How its ID tokens are signed',
  require_pushed_authorization_requests: 'Whether it must push each of its authorization requests (RFC 9126).',
  default_max_age: 'Seconds: `max_age` of its authorization requests that have none.',
  default_acr_values:
    '`acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`.',
  require_auth_time: 'Whether each of its ID tokens has `auth_time`',
  dpop_bound_access_tokens: 'Whether each of its token requests must have a DPoP proof (RFC 9449)',
  post_logout_redirect_uris: 'Exact URIs to which the browser may return after a logout.',
  backchannel_logout_uri: 'Where the server notifies it when a session of a user ends.',
} as const

/** The metadata of a client, by the names of RFC 7591. Members that were not registered are absent. */
export const METADATA_MEMBERS = {
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
  require_pushed_authorization_requests: z
    .boolean()
    .optional()
    .describe(METADATA_TEXTS.require_pushed_authorization_requests),
  scope: z.string().optional(),
  dpop_bound_access_tokens: z.boolean().optional().describe(`${METADATA_TEXTS.dpop_bound_access_tokens}.`),
  id_token_signed_response_alg: z
    .string()
    .optional()
    .describe(`${METADATA_TEXTS.id_token_signed_response_alg}. Absent: RS256.`),
  default_max_age: z.int().optional().describe(METADATA_TEXTS.default_max_age),
  default_acr_values: z.array(z.string()).optional().describe(METADATA_TEXTS.default_acr_values),
  require_auth_time: z.boolean().optional().describe(`${METADATA_TEXTS.require_auth_time}.`),
  post_logout_redirect_uris: z.array(z.string()).optional().describe(METADATA_TEXTS.post_logout_redirect_uris),
  backchannel_logout_uri: z.string().optional().describe(METADATA_TEXTS.backchannel_logout_uri),
  backchannel_logout_session_required: z.boolean().optional(),
  client_name: z.string().optional(),
  client_uri: z.string().optional(),
  logo_uri: z.string().optional(),
  tos_uri: z.string().optional(),
  policy_uri: z.string().optional(),
  software_id: z.string().optional(),
  software_version: z.string().optional(),
  contacts: z.array(z.string()).optional(),
}

/** A client in an answer. */
export const CLIENT_DOCUMENT = z
  .object({
    client_id: z
      .string()
      .describe(
        'The `client_id`. Where `document_url` is not null, it is the id of the record, and `document_url` is the `client_id`.',
      ),
    client_id_issued_at: z.int().describe('Seconds since the epoch.'),
    source: SOURCE,
    document_url: z.string().nullable().describe('The URL of the metadata document.'),
    document_fetched_at: ISO_OR_NULL,
    document_fresh_until: ISO_OR_NULL.describe('The document is not fetched again before this time.'),
    trust_level: TRUST_LEVEL,
    rules: z.object(RULES),
    refresh_copies: z
      .enum([...COPIES_RULES, 'server'])
      .describe(
        'What an earlier refresh token of the client gets: by its rule; `strict`, because it authenticates; or `server`, what GRANTOR_REFRESH_COPIES says.',
      ),
    has_secret: z.boolean(),
    previous_secret_until: ISO_OR_NULL.describe('The previous secret is valid until this time.'),
    manages_itself: z.boolean().describe('Whether the client has a registration access token (RFC 7592).'),
    approved_scope: z.string().describe('The scopes that the client is approved for.'),
    used_at: ISO_OR_NULL.describe('When the client first got a token; null: never.'),
    last_used_at: ISO_OR_NULL.describe('When the client last got a token, to the minute; null: never.'),
    verified_at: ISO_OR_NULL,
    disabled_at: ISO_OR_NULL,
    not_before: ISO_OR_NULL.describe('The not-before time: tokens of the client issued earlier are revoked.'),
    ...METADATA_MEMBERS,
  })
  .meta({ id: 'Client' })

export type ClientDocument = z.output<typeof CLIENT_DOCUMENT>

/** A client of a purge. */
export const PURGED_CLIENT = CLIENT_DOCUMENT.extend({
  spared_as: z
    .enum(['waiting', 'new', 'active'])
    .nullable()
    .describe(
      'Why the server by itself would keep the client. waiting: its user is on the way. new: it registered in the last 15 minutes. active: it has a refresh token that may be valid, or is kept by a decision. null: nothing.',
    ),
}).meta({ id: 'PurgedClient' })

export type PurgedClientDocument = z.output<typeof PURGED_CLIENT>

/** A client whose rules were replaced. */
export const RULED_CLIENT = CLIENT_DOCUMENT.extend({
  previous_rules: z.object(RULES).describe('The rules that were replaced.'),
}).meta({ id: 'RuledClient' })

export type RuledClientDocument = z.output<typeof RULED_CLIENT>

/** A client as the operator sees it, without the hashes of its secrets. */
export async function describeClient(client: ClientRecord, context: PolicyNeeds): Promise<ClientDocument> {
  return describeUnder(await context.clientPolicy(), client)
}

/** The same for many clients under one policy. */
export function describeUnder(policy: ClientPolicy, client: ClientRecord): ClientDocument {
  const { issuedAt, source, document, rules, metadata, previousSecret, managementHash } = client
  return {
    client_id: listedIdOf(client),
    client_id_issued_at: issuedAt,
    source,
    document_url: document?.url ?? null,
    document_fetched_at: isoOrNull(document?.fetchedAt),
    document_fresh_until: isoOrNull(document?.freshUntil),
    trust_level: shownLevel(policy, client),
    rules,
    refresh_copies: ownCopiesOf(client) ?? 'server',
    has_secret: ['client_secret_post', 'client_secret_basic'].includes(metadata.authMethod),
    previous_secret_until: isoOrNull(previousSecret?.until),
    manages_itself: managementHash !== undefined,
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
  ClientDocument,
  'redirect_uris' | 'token_endpoint_auth_method' | 'grant_types' | 'response_types'
>

/** Returns the trust level of a client, or that its domain is blocked. */
export function shownLevel(policy: ClientPolicy, client: ClientRecord): ShownLevel {
  const verdict = evaluateClientPolicy(policy, { client, phase: 'use', redirectUri: undefined })
  return verdict.kind === 'refused' ? 'blocked' : verdict.rights.trust.level
}
