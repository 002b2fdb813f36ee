import type { Context } from '../../ports/context.ts'
import * as z from 'zod'
import type { ClientRecord } from '../../ports/records/client.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import { CLIENT_MEMBERS, type ClientMetadata } from '../../protocol/client/members.ts'
import { answerShape } from '../../protocol/members.ts'
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
import { describeGroupClaim, groupClaimFrom, GROUP_CLAIM, GROUP_WORDS } from '../group/group-claim.ts'
import { ISO_OR_NULL, isoOrNull } from '../../base/iso.ts'

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
  groups: GROUP_CLAIM.optional().describe(
    'The claim in which the client reads the groups of users, in ID tokens and at userinfo, if it requests the scope `groups`. The default is off.',
  ),
  group_words: GROUP_WORDS.optional(),
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
  { pkce, profile = 'standard', copies, groups, group_words: words, ...rules }: RulesInput,
  { token_endpoint_auth_method: authMethod }: Pick<ClientMetadata, 'token_endpoint_auth_method'>,
): ClientRules {
  const usual = { ...rules, profile, pkce: pkce ?? (authMethod === 'none' ? 'required' : 'nonce') } as const
  const claim = groupClaimFrom(undefined, { groups, words })
  return {
    ...usual,
    ...(copies === undefined ? {} : { copies }),
    ...(claim === undefined ? {} : { groupClaim: claim }),
  }
}

/** The rules in an answer. */
export function describeRules({ groupClaim, ...rules }: ClientRules): RulesDocument {
  if (groupClaim === undefined) return rules
  const { groups: name, group_words: words } = describeGroupClaim(groupClaim)
  return { ...rules, groups: name, ...(words.length === 0 ? {} : { group_words: words }) }
}

type RulesDocument = z.output<z.ZodObject<typeof RULES>>

/**
 * The rules of a client that the operator did not create: those of all such clients, and that its copies are strict, or are so no more.
 * undefined: it cannot have what is given.
 */
export function strictRulesOf(
  { consent, pkce = 'required', profile = 'standard', copies, groups = 'off', group_words: words }: RulesInput,
  { copies: before }: ClientRules,
): ClientRules | undefined {
  if (consent !== 'asked' || pkce !== 'required' || profile !== 'standard') return undefined
  if (groups !== 'off' || words !== undefined) return undefined
  if (copies === 'strict') return { ...DEFAULT_RULES, copies }
  return copies === undefined && before !== undefined ? DEFAULT_RULES : undefined
}

/** The metadata of a client in an answer. Members that were not registered are absent. */
export const METADATA_MEMBERS = answerShape(CLIENT_MEMBERS)

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
export async function describeClient(client: ClientRecord, context: Context): Promise<ClientDocument> {
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
    rules: describeRules(rules),
    refresh_copies: ownCopiesOf(client) ?? 'server',
    has_secret: ['client_secret_post', 'client_secret_basic'].includes(metadata.token_endpoint_auth_method),
    previous_secret_until: isoOrNull(previousSecret?.until),
    manages_itself: managementHash !== undefined,
    approved_scope: client.approvedScope,
    used_at: isoOrNull(client.usedAt),
    last_used_at: isoOrNull(client.lastUsedAt),
    verified_at: isoOrNull(client.verifiedAt),
    disabled_at: isoOrNull(client.disabledAt),
    not_before: isoOrNull(client.notBefore),
    ...(metadata as unknown as Pick<ClientDocument, keyof ClientMetadata>),
  }
}

/** Returns the trust level of a client, or that its domain is blocked. */
export function shownLevel(policy: ClientPolicy, client: ClientRecord): ShownLevel {
  const verdict = evaluateClientPolicy(policy, { client, phase: 'use', redirectUri: undefined })
  return verdict.kind === 'refused' ? 'blocked' : verdict.rights.trust.level
}

/** Whether a client in an answer is verified, also while it is disabled or blocked. */
export function isShownVerified({ verified_at: at, source }: Readonly<Record<string, unknown>>): boolean {
  return at !== null || source === 'operator'
}
