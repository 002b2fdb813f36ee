import * as z from 'zod'
import { ASSERTION_ALGORITHMS, KEY_LIMIT, type RegisteredKeys } from './keys.ts'
import { CLIENT_AUTH_METHODS, type ClientAuthMethod, type Fault, type RegistrationRules } from './registration-rules.ts'
import type { AnyMember, Member, RecordOf } from '../members.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM, ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm } from '../openid/id-token.ts'
import { MAX_AGE_LIMIT } from '../openid/request.ts'
import { ACR_VALUES, knownAcrValues, type Acr } from '../sign-in/acr.ts'
import { isForClients, OFFERED_GRANT_TYPES, type GrantType } from '../token/grant-types.ts'
import { narrow, NO_SCOPE, parseScope, type Scope } from '../token/scope.ts'
import { isLoopbackHost } from '../uri/loopback.ts'
import { checkRedirectUri, type RedirectUriPolicy } from '../uri/redirect-uri.ts'
import { displayed } from '../../base/display-text.ts'
import { LANGUAGES, type Language } from '../../base/language.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { problem, type Problem } from '../../base/validation.ts'

interface Place {
  /**
   * Whether a change of the member makes the client a different one to users (decision 0022): of its name, the only member that pages
   * show, or of a host to which the server sends browsers and notices. Such a change ends the client's verification and the consents to it.
   */
  readonly identity?: 'name' | 'hosts'
  /** RFC 7591 §2 types it "or null": the response repeats a null (decision 0017). */
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
export const CLIENT_MEMBERS = {
  redirect_uris: {
    ...uris('Exact redirect URIs.', 'https://app.example/callback'),
    shown: z.array(z.string()),
    keep(sent = [], { policy, fault }) {
      const usable = checkUris('redirect_uris', sent, policy, fault)
      if (sent.length > 0 && usable === 0) fault(noneUsable(sent, policy))
      return sent
    },
  } satisfies Row<readonly string[], readonly string[]>,
  token_endpoint_auth_method: {
    text: 'How the client authenticates at the token endpoint.',
    sent: TEXT,
    keep: (_, { authMethod }): ClientAuthMethod => authMethod,
    input: z
      .enum(CLIENT_AUTH_METHODS)
      .meta({ examples: ['private_key_jwt'] })
      .describe(
        'How the client authenticates. The default is client_secret_basic, or private_key_jwt with keys. none: a public client, which has no secret.',
      ),
    shown: z.string(),
  } satisfies Row<string, ClientAuthMethod>,
  token_endpoint_auth_signing_alg: {
    text: 'The only algorithm that its assertions may have.',
    ...key('token_endpoint_auth_signing_alg'),
    input: z.enum(ASSERTION_ALGORITHMS).meta({ examples: ['EdDSA'] }),
    shown: z.string().optional(),
  },
  jwks: {
    text: 'The public keys of a client with `private_key_jwt`.',
    ...key('jwks'),
    input: z
      .object({ keys: z.array(z.looseObject({})).max(KEY_LIMIT) })
      .meta({
        examples: [{ keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }],
      })
      .describe('The public keys as a JWK Set (RFC 7517 §5). Private keys are rejected.'),
    shown: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).optional(),
  },
  jwks_uri: {
    text: 'Where the server fetches its public keys, instead of jwks.',
    ...key('jwks_uri'),
    input: z
      .string()
      .max(MAXIMA.uri.most)
      .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not a URL.' }),
    shown: z.string().optional(),
  },
  grant_types: {
    text: 'The grant types that it may use.',
    sent: TEXTS,
    keep: (_, { grants }): readonly GrantType[] => grants.grantTypes,
    input: z
      .array(z.enum(GRANT_TYPES_OF_CLIENTS))
      .max(LIST_LIMIT)
      .describe(
        'The grant types. The default is authorization_code and refresh_token, or client_credentials without redirect URIs.',
      ),
    shown: z.array(z.string()),
  } satisfies Row<readonly string[], readonly GrantType[]>,
  response_types: {
    text: '`code`, if it may use the authorization code.',
    sent: TEXTS,
    follows: ['grant_types'],
    keep: (_, { grants }): readonly 'code'[] => grants.responseTypes,
    shown: z.array(z.string()),
  } satisfies Row<readonly string[], readonly 'code'[]>,
  require_pushed_authorization_requests: demand('Whether it must push each of its authorization requests (RFC 9126).'),
  scope: {
    text: 'The registered scope, separated by spaces. Absent: only what its users and the APIs allow limits it (decision 0006).',
    sent: TEXT,
    repeatsNull: true,
    keep: (sent, { policy, fault }) => (sent === undefined ? undefined : readScope(sent, policy.declaresScope, fault)),
    shown: z.string().optional(),
  } satisfies Row<string, Scope | undefined>,
  dpop_bound_access_tokens: demand(
    'Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key.',
  ),
  id_token_signed_response_alg: {
    text: 'How its ID tokens are signed; by default RS256.',
    sent: TEXT,
    // An algorithm that is not supported, such as `none`, is replaced by the usual one, which the response says (RFC 7591 §2).
    keep: (sent) =>
      sent === undefined ? undefined : (ID_TOKEN_ALGORITHMS.find((one) => one === sent) ?? DEFAULT_ID_TOKEN_ALGORITHM),
    input: z.enum(ID_TOKEN_ALGORITHMS).meta({ examples: ['ES256'] }),
    nullMeans: 'RS256',
    shown: z.string().optional(),
  } satisfies Row<string, IdTokenAlgorithm | undefined>,
  default_max_age: {
    text: 'Seconds: `max_age` of its authorization requests that have none.',
    sent: AGE.nullish(),
    keep: (sent) => sent,
    input: AGE.meta({ examples: [3600] }),
    nullMeans: 'none',
    shown: z.int().optional(),
  } satisfies Row<number, number | undefined>,
  default_acr_values: {
    text: '`acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`.',
    sent: TEXTS,
    keep(sent = []) {
      const known = knownAcrValues(sent)
      return known.length === 0 ? undefined : known
    },
    input: z.array(z.enum(ACR_VALUES).meta({ examples: ['urn:grantor:acr:2fa'] })).max(ACR_VALUES.length),
    shown: z.array(z.string()).optional(),
  } satisfies Row<readonly string[], readonly Acr[] | undefined>,
  require_auth_time: {
    ...flag('Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again.'),
    keep: (sent) => sent,
  } satisfies Row<boolean, boolean | undefined>,
  post_logout_redirect_uris: {
    ...uris('Exact URIs to which the browser may return after a logout.', 'https://app.example/signed-out'),
    shown: z.array(z.string()).optional(),
    keep(sent, { policy, fault }) {
      checkUris('post_logout_redirect_uris', sent ?? [], policy, fault)
      return sent
    },
  } satisfies Row<readonly string[], readonly string[] | undefined>,
  backchannel_logout_uri: {
    text: 'Where the server notifies it when a session of a user ends.',
    sent: TEXT,
    identity: 'hosts',
    keep: (sent, { isNotified }) => (isNotified ? sent : undefined),
    input: z
      .string()
      .max(MAXIMA.uri.most)
      .regex(/^(https?:\/\/[\x21-\x7e]+)?$/, { error: 'This is not a URL.' })
      .meta({ examples: ['https://app.example/backchannel-logout'] })
      .describe('Where the server notifies it when a session of a user ends. Empty: nowhere.'),
    shown: z.string().optional(),
  } satisfies Row<string, string | undefined>,
  backchannel_logout_session_required: {
    ...flag('Whether logout tokens must have a `sid`. They always have one.'),
    follows: ['backchannel_logout_uri'],
    keep: (sent, { isNotified }) => (isNotified ? sent : undefined),
  } satisfies Row<boolean, boolean | undefined>,
  client_name: named('client_name', 'The name of the client, as the pages show it.'),
  ...NAMES_BY_LANGUAGE,
  client_uri: link('client_uri', 'A page about the client.'),
  logo_uri: link('logo_uri', 'Its logo, which no page loads.'),
  tos_uri: link('tos_uri', 'Its terms of service.'),
  policy_uri: link('policy_uri', 'Its privacy policy.'),
  software_id: word('software_id', 'What program it is, the same for all copies.', MAXIMA.softwareId.most),
  software_version: word('software_version', 'The version of the program.', MAXIMA.softwareVersion.most),
  contacts: {
    text: 'Addresses of those who are responsible for it.',
    sent: TEXTS,
    repeatsNull: true,
    keep(sent, { fault }) {
      checkContacts(sent ?? [], fault)
      return sent
    },
    shown: z.array(z.string()).optional(),
  } satisfies Row<readonly string[], readonly string[] | undefined>,
} as const satisfies Readonly<Record<string, AnyMember<RegistrationRules> & Place>>

/** The registered metadata of a client, after negotiation, by the names of the wire. */
export type ClientMetadata = RecordOf<typeof CLIENT_MEMBERS>

/** The members that are part of the identity in this way. */
export type NamesWith<Identity extends 'name' | 'hosts'> = {
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
  return { text, sent: FLAG, input: z.boolean().meta({ examples: [true] }), shown: z.boolean().optional() }
}

/** A flag that is absent where it is false, so that a public client that sends the default is the same client (decision 0010). */
function demand(text: string) {
  return { ...flag(text), keep: (sent: boolean | undefined) => (sent === true ? (true as const) : undefined) }
}

function uris(text: string, example: string) {
  const input = z
    .array(
      z
        .string()
        .max(MAXIMA.uri.most)
        .regex(/^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/, { error: 'This is not an absolute URI with a lower-case scheme.' })
        .meta({ examples: [example] }),
    )
    .max(LIST_LIMIT)
  return { text, sent: TEXTS, identity: 'hosts' as const, input }
}

/** Reports the URIs that are refused, and returns how many can be used. */
function checkUris(
  field: 'redirect_uris' | 'post_logout_redirect_uris',
  sent: readonly string[],
  policy: RedirectUriPolicy,
  fault: Fault,
): number {
  if (sent.length > LIST_LIMIT) fault(tooMany(field, sent))
  let usable = 0
  for (const [index, uri] of sent.slice(0, LIST_LIMIT).entries()) {
    const verdict = checkRedirectUri(uri, policy)
    if (verdict.kind === 'refused') {
      const type = URL.canParse(uri) ? 'value_error' : 'url_parsing'
      fault(problem(['body', field, String(index)], type, `The redirect URI ${verdict.reason}.`, uri, {}))
    }
    if (verdict.kind !== 'dormant') usable += 1
  }
  return usable
}

function noneUsable(sent: readonly string[], { apps }: RedirectUriPolicy): Problem {
  const schemes = [...new Set(sent.flatMap((uri) => /^[a-z][a-z0-9+.-]{0,39}(?=:)/i.exec(uri) ?? []))].slice(0, 3)
  const msg = `No redirect URI can be used: at least one must use https, http on loopback, or a private-use scheme that GRANTOR_REDIRECT_SCHEMES of the server allows${schemes.length === 0 ? '' : ` (sent: ${schemes.join(', ')})`}.`
  return problem(['body', 'redirect_uris'], 'url_scheme', msg, sent, { expected: ['https', 'http', ...apps.schemes] })
}

function tooMany(field: string, sent: readonly string[]): Problem {
  return problem(['body', field], 'too_many', `This may have at most ${LIST_LIMIT} entries.`, sent, {
    max_length: LIST_LIMIT,
  })
}

function readScope(sent: string, declaresScope: (token: string) => boolean, fault: Fault): Scope {
  const scope = sent.length > MAXIMA.registeredScope.most ? undefined : parseScope(sent)
  if (scope !== undefined) return narrow(scope, declaresScope)
  fault(problem(['body', 'scope'], 'value_error', 'The scope is malformed, or has too many values.', sent, {}))
  return NO_SCOPE
}

function named(field: string, text: string) {
  const limit = MAXIMA.clientName.most
  return { ...word(field, text, limit), identity: 'name' as const, input: displayed(limit, 'Build Board') }
}

/** A text that describes the client. `limit`: characters. */
function word(field: string, text: string, limit: number) {
  return described(text, (sent) => checkText(field, sent, limit))
}

/** A link about the client. The server never fetches it. It must use https, or http on loopback for development (threats.md REG-15). */
function link(field: string, text: string) {
  return described(text, (sent) => checkLink(field, sent))
}

function described(text: string, check: (sent: string) => Problem | undefined) {
  return {
    text,
    sent: TEXT,
    repeatsNull: true as const,
    keep(sent: string | undefined, { fault }: RegistrationRules): string | undefined {
      const found = sent === undefined ? undefined : check(sent)
      if (found === undefined) return sent
      fault(found)
      return undefined
    },
    shown: z.string().optional(),
  }
}

function checkText(field: string, sent: string, limit: number): Problem | undefined {
  // A text never has more characters than UTF-16 units, so the cheap comparison comes first.
  if (sent.length > limit && [...sent].length > limit) {
    return problem(['body', field], 'too_long', `This may have at most ${limit} characters.`, sent, {
      max_length: limit,
    })
  }
  if (!/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u.test(sent)) return undefined
  return problem(['body', field], 'value_error', 'This contains a control character.', sent, {})
}

function checkLink(field: string, sent: string): Problem | undefined {
  const loc = ['body', field]
  const limit = MAXIMA.uri.most
  if (sent.length > limit)
    return problem(loc, 'too_long', `This may have at most ${limit} characters.`, sent, { max_length: limit })
  const url = /[\s\p{Cc}\\]/u.test(sent) ? null : URL.parse(sent)
  if (url === null) return problem(loc, 'url_parsing', 'This is not an absolute URL.', sent, {})
  if (url.username !== '' || url.password !== '')
    return problem(loc, 'value_error', 'The URL has a user name or password.', sent, {})
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopbackHost(url.hostname)) return undefined
  return problem(loc, 'url_scheme', 'The URL must use https.', sent, { expected: ['https'] })
}

function checkContacts(sent: readonly string[], fault: Fault): void {
  if (sent.length > LIST_LIMIT) fault(tooMany('contacts', sent))
  for (const [index, contact] of sent.slice(0, LIST_LIMIT).entries()) {
    if (contact.length <= MAXIMA.email.most && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(contact)) continue
    fault(problem(['body', 'contacts', String(index)], 'value_error', 'This is not an e-mail address.', contact, {}))
  }
}
