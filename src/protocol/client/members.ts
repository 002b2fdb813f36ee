import * as z from 'zod'
import { ASSERTION_ALGORITHMS, KEY_LIMIT, type RegisteredKeys } from './keys.ts'
import { CLIENT_AUTH_METHODS, type ClientAuthMethod, type RegistrationRules } from './registration-rules.ts'
import { checkContacts, checkLink, checkText, checkUris, noneUsable, readScope } from './member-values.ts'
import type { AnyMember, Member, RecordOf } from '../members.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM, ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm } from '../openid/id-token.ts'
import { MAX_AGE_LIMIT } from '../openid/request.ts'
import { ACR_VALUES, knownAcrValues, type Acr } from '../sign-in/acr.ts'
import { isForClients, OFFERED_GRANT_TYPES, type GrantType } from '../token/grant-types.ts'
import type { Scope } from '../token/scope.ts'
import { displayed } from '../../base/display-text.ts'
import { LANGUAGES, type Language } from '../../base/language.ts'
import { MAXIMA } from '../../base/maxima.ts'
import type { Problem } from '../../base/validation.ts'

interface Place {
  /**
   * Whether a change of the member makes the client a different one to users (decision 0022): of its name, the only member that pages
   * show, or of a host to which the server sends browsers and notices, or to which links of pages lead (`led`). Such a change ends the
   * client's verification and the consents to it.
   */
  readonly identity?: 'name' | 'hosts' | 'led'
  /** RFC 7591 §2 types it "or null": the response repeats a null (decision 0005). */
  readonly repeatsNull?: true
  /** Members that decide its value, too: where one of them changes, an administrator's change reads it again. */
  readonly follows?: readonly string[]
}
type Row<Sent, Kept> = Member<Sent | null | undefined, Kept, RegistrationRules> & Place

const LIST_LIMIT = MAXIMA.metadataList.most
const TEXT = z.string().nullish()
const TEXTS = z.array(z.string()).nullish()
const FLAG = z.boolean().nullish()
const AGE = z.int().min(0).max(MAX_AGE_LIMIT)
const GRANT_TYPES_OF_CLIENTS = OFFERED_GRANT_TYPES.filter(isForClients)
/** They are read together: each of them follows from all. */
export const KEY_MEMBERS = [
  'token_endpoint_auth_method',
  'jwks',
  'jwks_uri',
  'token_endpoint_auth_signing_alg',
] as const

/** RFC 7591 §2.2. Names in languages that no page has are ignored. */
const NAMES_BY_LANGUAGE = Object.fromEntries(
  LANGUAGES.map((language) => [
    `client_name#${language}`,
    {
      ...named(`client_name#${language}`, `The name on pages in the language ${language}, instead of client_name.`),
      nullMeans: 'none',
    },
  ]),
) as { readonly [Tag in Language as `client_name#${Tag}`]: ReturnType<typeof named> & { readonly nullMeans: string } }

/**
 * What a client registers: RFC 7591 §2, RFC 9126 §6, RFC 9449 §5.2, OpenID Connect Dynamic Client Registration 1.0 §2, RP-Initiated Logout
 * 1.0 §3.1 and Back-Channel Logout 1.0 §2.2. Other members are ignored.
 */
const WEB_ADDRESS = z
  .string()
  .max(MAXIMA.uri.most)
  .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not a URL.' })

export const CLIENT_MEMBERS = {
  redirect_uris: {
    ...uris('https://app.example/callback'),
    answer: z.array(z.string()).describe('Exact redirect URIs.'),
    keep(sent = [], { policy, fault }) {
      const usable = checkUris('redirect_uris', sent, policy, fault)
      if (sent.length > 0 && usable === 0) fault(noneUsable(sent, policy))
      return sent
    },
  } satisfies Row<readonly string[], readonly string[]>,
  token_endpoint_auth_method: {
    sent: TEXT,
    keep: (_, { authMethod }): ClientAuthMethod => authMethod,
    input: z
      .enum(CLIENT_AUTH_METHODS)
      .meta({ examples: ['private_key_jwt'] })
      .describe(
        'How the client authenticates. The default is client_secret_basic, or private_key_jwt with keys. none: a public client, which has no secret.',
      ),
    answer: z.string().describe('How the client authenticates at the token endpoint.'),
  } satisfies Row<string, ClientAuthMethod>,
  token_endpoint_auth_signing_alg: {
    ...key('token_endpoint_auth_signing_alg'),
    input: z.enum(ASSERTION_ALGORITHMS).meta({ examples: ['EdDSA'] }),
    answer: z.string().optional().describe('The only algorithm that its assertions may have.'),
  },
  jwks: {
    ...key('jwks'),
    input: z
      .object({ keys: z.array(z.looseObject({})).max(KEY_LIMIT) })
      .meta({
        examples: [{ keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }],
      })
      .describe('The public keys as a JWK Set (RFC 7517 §5). Private keys are rejected.'),
    answer: z
      .object({ keys: z.array(z.record(z.string(), z.unknown())) })
      .optional()
      .describe('The public keys of a client with `private_key_jwt`.'),
  },
  jwks_uri: {
    ...key('jwks_uri'),
    input: z
      .string()
      .max(MAXIMA.uri.most)
      .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not a URL.' }),
    answer: z.string().optional().describe('Where the server fetches its public keys, instead of jwks.'),
  },
  grant_types: {
    sent: TEXTS,
    keep: (_, { grants }): readonly GrantType[] => grants.grantTypes,
    input: z
      .array(z.enum(GRANT_TYPES_OF_CLIENTS))
      .max(LIST_LIMIT)
      .describe(
        'The grant types. The default is authorization_code and refresh_token, or client_credentials without redirect URIs.',
      ),
    answer: z.array(z.string()).describe('The grant types that it may use.'),
  } satisfies Row<readonly string[], readonly GrantType[]>,
  response_types: {
    sent: TEXTS,
    follows: ['grant_types'],
    keep: (_, { grants }): readonly 'code'[] => grants.responseTypes,
    answer: z.array(z.string()).describe('`code`, if it may use the authorization code.'),
  } satisfies Row<readonly string[], readonly 'code'[]>,
  require_pushed_authorization_requests: demand('Whether it must push each of its authorization requests (RFC 9126).'),
  scope: {
    sent: TEXT,
    repeatsNull: true,
    keep: (sent, { policy, fault }) => (sent === undefined ? undefined : readScope(sent, policy.declaresScope, fault)),
    answer: z
      .string()
      .optional()
      .describe(
        'The registered scope, separated by spaces. Absent: only what its users and the APIs allow limits it (decision 0006).',
      ),
  } satisfies Row<string, Scope | undefined>,
  dpop_bound_access_tokens: demand(
    'Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key.',
  ),
  id_token_signed_response_alg: {
    sent: TEXT,
    // An algorithm that is not supported, such as `none`, is replaced by the usual one, which the response says (RFC 7591 §2).
    keep: (sent) =>
      sent === undefined ? undefined : (ID_TOKEN_ALGORITHMS.find((one) => one === sent) ?? DEFAULT_ID_TOKEN_ALGORITHM),
    input: z.enum(ID_TOKEN_ALGORITHMS).meta({ examples: ['ES256'] }),
    nullMeans: 'RS256',
    answer: z.string().optional().describe('How its ID tokens are signed; by default RS256.'),
  } satisfies Row<string, IdTokenAlgorithm | undefined>,
  default_max_age: {
    sent: AGE.nullish(),
    keep: (sent) => sent,
    input: AGE.meta({ examples: [3600] }),
    nullMeans: 'none',
    answer: z.int().optional().describe('Seconds: `max_age` of its authorization requests that have none.'),
  } satisfies Row<number, number | undefined>,
  default_acr_values: {
    sent: TEXTS,
    keep(sent = []) {
      const known = knownAcrValues(sent)
      return known.length === 0 ? undefined : known
    },
    input: z.array(z.enum(ACR_VALUES).meta({ examples: ['urn:grantor:acr:2fa'] })).max(ACR_VALUES.length),
    answer: z
      .array(z.string())
      .optional()
      .describe(
        '`acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`.',
      ),
  } satisfies Row<readonly string[], readonly Acr[] | undefined>,
  require_auth_time: {
    ...flag('Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again.'),
    keep: (sent) => sent,
  } satisfies Row<boolean, boolean | undefined>,
  post_logout_redirect_uris: {
    ...uris('https://app.example/signed-out'),
    answer: z.array(z.string()).optional().describe('Exact URIs to which the browser may return after a logout.'),
    keep(sent, { policy, fault }) {
      checkUris('post_logout_redirect_uris', sent ?? [], policy, fault)
      return sent
    },
  } satisfies Row<readonly string[], readonly string[] | undefined>,
  backchannel_logout_uri: {
    sent: TEXT,
    identity: 'hosts',
    keep: (sent, { isNotified }) => (isNotified ? sent : undefined),
    input: z
      .string()
      .max(MAXIMA.uri.most)
      .regex(/^(https?:\/\/[\x21-\x7e]+)?$/, { error: 'This is not a URL.' })
      .meta({ examples: ['https://app.example/backchannel-logout'] })
      .describe('Where the server notifies it when a session of a user ends. Empty: nowhere.'),
    answer: z.string().optional().describe('Where the server notifies it when a session of a user ends.'),
  } satisfies Row<string, string | undefined>,
  backchannel_logout_session_required: {
    ...flag('Whether logout tokens must have a `sid`. They always have one.'),
    follows: ['backchannel_logout_uri'],
    keep: (sent, { isNotified }) => (isNotified ? sent : undefined),
  } satisfies Row<boolean, boolean | undefined>,
  client_name: named('client_name', 'The name of the client, as the pages show it.'),
  ...NAMES_BY_LANGUAGE,
  client_uri: {
    ...link(
      'client_uri',
      'Its website, to which pages lead the users of a client that is verified or an operator created.',
    ),
    identity: 'led',
    input: WEB_ADDRESS.meta({ examples: ['https://app.example'] }),
    nullMeans: 'none',
  },
  initiate_login_uri: {
    ...link(
      'initiate_login_uri',
      'Where it begins a sign-in that started elsewhere (OpenID Connect Core 1.0 §4). Pages lead its users there instead of to client_uri.',
    ),
    identity: 'led',
    input: WEB_ADDRESS.meta({ examples: ['https://app.example/login'] }),
    nullMeans: 'none',
  },
  logo_uri: link('logo_uri', 'Its logo, which no page loads.'),
  tos_uri: link('tos_uri', 'Its terms of service.'),
  policy_uri: link('policy_uri', 'Its privacy policy.'),
  software_id: word('software_id', 'What program it is, the same for all copies.', MAXIMA.softwareId.most),
  software_version: word('software_version', 'The version of the program.', MAXIMA.softwareVersion.most),
  contacts: {
    sent: TEXTS,
    repeatsNull: true,
    keep(sent, { fault }) {
      checkContacts(sent ?? [], fault)
      return sent
    },
    answer: z.array(z.string()).optional().describe('Addresses of those who are responsible for it.'),
  } satisfies Row<readonly string[], readonly string[] | undefined>,
} as const satisfies Readonly<Record<string, AnyMember<RegistrationRules> & Place>>

/** The registered metadata of a client, after negotiation, by the names of the wire. */
export type ClientMetadata = RecordOf<typeof CLIENT_MEMBERS>

/** The members that are part of the identity in this way. */
export type NamesWith<Identity extends 'name' | 'hosts' | 'led'> = {
  [Name in keyof typeof CLIENT_MEMBERS]: (typeof CLIENT_MEMBERS)[Name] extends { readonly identity: Identity }
    ? Name
    : never
}[keyof typeof CLIENT_MEMBERS]

function key<Name extends keyof RegisteredKeys>(name: Name) {
  const from = KEY_MEMBERS.filter((one) => one !== name)
  // What the keys are is checked where they are read together. They are ignored with other methods than private_key_jwt.
  return { sent: z.unknown().optional(), from, keep: (_: unknown, { keys }: RegistrationRules) => keys[name] }
}

function flag(text: string) {
  return { sent: FLAG, input: z.boolean().meta({ examples: [true] }), answer: z.boolean().optional().describe(text) }
}

/** A flag that is absent where it is false, so that a public client that sends the default is the same client. */
function demand(text: string) {
  return { ...flag(text), keep: (sent: boolean | undefined) => (sent === true ? (true as const) : undefined) }
}

function uris(example: string) {
  const input = z
    .array(
      z
        .string()
        .max(MAXIMA.uri.most)
        .regex(/^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/, { error: 'This is not an absolute URI with a lower-case scheme.' })
        .meta({ examples: [example] }),
    )
    .max(LIST_LIMIT)
  return { sent: TEXTS, identity: 'hosts' as const, input }
}

function named(field: string, text: string) {
  const limit = MAXIMA.clientName.most
  return { ...word(field, text, limit), identity: 'name' as const, input: displayed(limit, 'Build Board') }
}

/** A text that describes the client. `limit`: characters. */
function word(field: string, text: string, limit: number) {
  return described(text, (sent) => checkText(field, sent, limit))
}

/** A link about the client. The server never fetches it. */
function link(field: string, text: string) {
  return described(text, (sent) => checkLink(field, sent))
}

function described(text: string, check: (sent: string) => Problem | undefined) {
  return {
    sent: TEXT,
    repeatsNull: true as const,
    keep(sent: string | undefined, { fault }: RegistrationRules): string | undefined {
      const found = sent === undefined ? undefined : check(sent)
      if (found === undefined) return sent
      fault(found)
      return undefined
    },
    answer: z.string().optional().describe(text),
  }
}
