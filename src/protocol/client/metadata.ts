import * as z from 'zod'
import { describeKeys, readClientKeys, type ClientKeys } from './keys.ts'
import { METADATA_LIST_LIMIT, readDescriptive, tooMany, type DescriptiveMetadata } from './descriptive-metadata.ts'
import { needCode, usableGrantTypes, type GrantType } from '../token/grant-types.ts'
import type { NoticePolicy, OpenidMetadata } from './openid-metadata.ts'
import { MAX_AGE_LIMIT, OPENID_SHAPE, readOpenid } from './openid-metadata.ts'
import { isObject, isSameJson } from '../../base/json.ts'
import { checkRedirectUri, type RedirectUriPolicy } from '../uri/redirect-uri.ts'
import { narrow, NO_SCOPE, parseScope, scopeTokens, type Scope } from '../token/scope.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** RFC 7591 §2: how a client authenticates at the token endpoint. */
export const CLIENT_AUTH_METHODS = ['client_secret_post', 'client_secret_basic', 'none', 'private_key_jwt'] as const
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number]

/** The registered metadata of a client, after negotiation: the members of `shape` below. Other members are ignored. */
export interface ClientMetadata extends OpenidMetadata {
  readonly redirectUris: readonly string[]
  readonly authMethod: ClientAuthMethod
  /** Present if the method is `private_key_jwt`. */
  readonly keys?: ClientKeys
  readonly grantTypes: readonly GrantType[]
  readonly responseTypes: readonly 'code'[]
  /** Present if each of its authorization requests must be pushed. RFC 9126 §6. */
  readonly parRequired?: true
  /** undefined: the client registered no scope, so only decision 0006 limits it. '': no scope that it sent is declared. */
  readonly scope: Scope | undefined
  /** Each of its token requests has a DPoP proof (`dpop_bound_access_tokens`, RFC 9449 §5.2). Absent: some may have one. */
  readonly dpopBound?: true
  readonly descriptive: DescriptiveMetadata
}

/** The settings that registration depends on. */
export interface RegistrationPolicy extends RedirectUriPolicy, NoticePolicy {
  /** Whether a scope token may be registered (decision 0006). */
  readonly declaresScope: (token: string) => boolean
  /** The grant types that the server offers. */
  readonly grantTypes: readonly GrantType[]
  /** What an administrator changes. Only values that it does not have are checked, and no other member changes. */
  readonly previous?: ClientMetadata
}

/** The result of reading a registration request. */
export type RegistrationReading =
  | {
      readonly kind: 'accepted'
      readonly metadata: ClientMetadata
      /** Fields that the caller sent as null and the specification types "or null". The response repeats the null (decision 0017). */
      readonly nulls: readonly string[]
    }
  /** A field has the wrong type: 422. */
  | { readonly kind: 'malformed'; readonly problems: readonly Problem[] }
  /** All types are right, and a value is not allowed: 400. */
  | { readonly kind: 'not-allowed'; readonly problems: readonly Problem[] }

const text = z.string().nullish()
const texts = z.array(z.string()).nullish()
const shape = z.object({
  redirect_uris: texts,
  token_endpoint_auth_method: text,
  grant_types: texts,
  response_types: texts,
  client_name: text,
  client_uri: text,
  logo_uri: text,
  scope: text,
  contacts: texts,
  tos_uri: text,
  policy_uri: text,
  software_id: text,
  software_version: text,
  // Ignored with other methods than private_key_jwt.
  jwks: z.unknown().optional(),
  jwks_uri: z.unknown().optional(),
  token_endpoint_auth_signing_alg: z.unknown().optional(),
  dpop_bound_access_tokens: z.boolean().nullish(),
  require_pushed_authorization_requests: z.boolean().nullish(),
  ...OPENID_SHAPE,
})
type Shape = z.infer<typeof shape>
type Field = keyof Shape

const NULLABLE = [
  'client_name',
  'client_uri',
  'logo_uri',
  'scope',
  'contacts',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
] as const satisfies readonly Field[]
/** Of the stored text. Released clients register less than 2 KiB. */
const METADATA_BYTES = MAXIMA.registration.most
/**
 * Characters of a registration whose stored text is surely shorter than that, so that its bytes are not counted: a character has at
 * most three bytes, and what the server adds (defaults, and names of members) fewer than 2 KiB.
 */
const SHORT_TEXT = 2048

/**
 * Reads a registration request (RFC 7591 §2 and §3.1). `body` is parsed JSON. Values that this server does not support are
 * dropped, dangerous values are refused, and all faults are reported together. `sentLength`: the characters of the text that was
 * parsed; undefined if there is no such text.
 */
export function readRegistration(
  body: unknown,
  given: RegistrationPolicy,
  sentLength: number | undefined,
): RegistrationReading {
  const { previous } = given
  const policy = previous === undefined ? given : withPrevious(given, previous)
  const parsed = shape.safeParse(body, { reportInput: true })
  const malformed = parsed.success ? [] : parsed.error.issues.map(shapeProblem)
  // Every field of the right type is checked against the policy, so that one response reports all faults.
  const fields = parsed.success ? parsed.data : wellTypedFields(body, malformed)
  const faults = new Map<string, Problem>()
  const fault = (found: Problem): void => {
    if (previous === undefined || !isPrevious(found, body, previous))
      faults.set(found.loc.join('.'), asSent(found, body))
  }

  const redirectUris = fields.redirect_uris ?? []
  const usable = checkUris('redirect_uris', redirectUris, policy, fault)
  if (redirectUris.length > 0 && usable === 0) fault(noneUsable(redirectUris, policy))
  // OpenID Connect RP-Initiated Logout 1.0 §3.1.
  checkUris('post_logout_redirect_uris', fields.post_logout_redirect_uris ?? [], policy, fault)
  const authMethod = readAuthMethod(fields.token_endpoint_auth_method, fault)
  const { grantTypes, responseTypes } = negotiateGrants(fields, authMethod, policy.grantTypes, fault)
  const scope = readScope(fields.scope, policy, fault)
  const descriptive = readDescriptive(fields, fault)
  const keys = authMethod === 'private_key_jwt' ? { keys: readClientKeys(fields, policy.outbound, fault) } : {}
  const openid = readOpenid(fields, policy, fault)

  for (const { loc } of malformed) faults.delete(loc.join('.'))
  const problems = [...malformed, ...faults.values()]
  if (malformed.length > 0) return { kind: 'malformed', problems }
  if (problems.length > 0) return { kind: 'not-allowed', problems }
  // Absent where they are false, so that a public client that sends the default is the same client (decision 0010).
  const bound = fields.dpop_bound_access_tokens === true ? { dpopBound: true as const } : {}
  const par = fields.require_pushed_authorization_requests === true ? { parRequired: true as const } : {}
  const read = {
    redirectUris,
    authMethod,
    ...keys,
    grantTypes,
    responseTypes,
    scope,
    ...bound,
    ...par,
    descriptive,
    ...openid,
  }
  const metadata = previous === undefined ? read : withUnnamed(read, body, previous)
  const isShort = sentLength !== undefined && sentLength <= SHORT_TEXT
  if (!isShort && bytesOf(metadata) > Math.max(METADATA_BYTES, previous === undefined ? 0 : bytesOf(previous))) {
    const msg = `The metadata may have at most ${METADATA_BYTES} bytes in all.`
    const large = problem(['body'], 'too_long', msg, null, { max_length: METADATA_BYTES })
    return { kind: 'not-allowed', problems: [large] }
  }
  return { kind: 'accepted', metadata, nulls: NULLABLE.filter((field) => fields[field] === null) }
}

function bytesOf(metadata: ClientMetadata): number {
  return Buffer.byteLength(JSON.stringify(metadata))
}

/** The policy that offers also what the client has. */
function withPrevious(policy: RegistrationPolicy, previous: ClientMetadata): RegistrationPolicy {
  const scope = scopeTokens(previous.scope ?? NO_SCOPE)
  return {
    ...policy,
    declaresScope: (token) => policy.declaresScope(token) || scope.includes(token),
    grantTypes: [...new Set([...policy.grantTypes, ...previous.grantTypes])],
    notifiedAt: previous.backchannelLogoutUri,
  }
}

const KEY_FIELDS = ['jwks', 'jwks_uri', 'token_endpoint_auth_signing_alg'] as const satisfies readonly Field[]
/** The fields from which each member is read. */
const READ_FROM: Readonly<Record<keyof ClientMetadata, readonly Field[]>> = {
  redirectUris: ['redirect_uris'],
  authMethod: ['token_endpoint_auth_method'],
  keys: ['token_endpoint_auth_method', ...KEY_FIELDS],
  grantTypes: ['grant_types'],
  responseTypes: ['grant_types', 'response_types'],
  parRequired: ['require_pushed_authorization_requests'],
  scope: ['scope'],
  dpopBound: ['dpop_bound_access_tokens'],
  descriptive: NULLABLE.filter((field) => field !== 'scope'),
  idTokenAlgorithm: ['id_token_signed_response_alg'],
  defaultMaxAge: ['default_max_age'],
  defaultAcrValues: ['default_acr_values'],
  requireAuthTime: ['require_auth_time'],
  postLogoutRedirectUris: ['post_logout_redirect_uris'],
  backchannelLogoutUri: ['backchannel_logout_uri'],
  backchannelLogoutSessionRequired: ['backchannel_logout_uri', 'backchannel_logout_session_required'],
}

/** Whether the client has the value of a problem already. The fields of keys are one value. */
function isPrevious({ loc }: Problem, body: unknown, previous: ClientMetadata): boolean {
  const [, field = '', place] = loc
  const isOfKeys = KEY_FIELDS.some((name) => name === field)
  const differs = differing(body, previous)
  if (isOfKeys) return !READ_FROM.keys.some(differs)
  if (!differs(field)) return true
  const [sent, had] = [body, describeMetadata(previous)].map((all) => (all as Readonly<Record<string, unknown>>)[field])
  if (!Array.isArray(sent) || !Array.isArray(had)) return false
  return place === undefined ? sent.every((one) => had.includes(one)) : had.includes(sent[Number(place)])
}

/** What was read of the fields that differ, and what the client has of all others. */
function withUnnamed(read: ClientMetadata, body: unknown, previous: ClientMetadata): ClientMetadata {
  const differs = differing(body, previous)
  const names = Object.keys(READ_FROM) as (keyof ClientMetadata)[]
  const members = names.map((name) => [name, (READ_FROM[name].some(differs) ? read : previous)[name]] as const)
  return Object.fromEntries(members.filter(([name, value]) => value !== undefined || name === 'scope')) as never
}

function differing(body: unknown, previous: ClientMetadata): (field: string) => boolean {
  const [sent, had] = [body as Readonly<Record<string, unknown>>, describeMetadata(previous)]
  return (field) => !isSameJson(sent[field] ?? undefined, had[field])
}

function shapeProblem(issue: z.core.$ZodIssue): Problem {
  const loc = ['body', ...issue.path.map(String)]
  const expected = issue.code === 'invalid_type' ? issue.expected : 'string'
  if (expected === 'array')
    return problem(loc, 'list_type', 'This must be a list of strings.', issue.input, { expected })
  if (expected === 'int' || expected === 'number' || issue.code === 'too_small' || issue.code === 'too_big')
    return problem(loc, 'int_type', `This must be a whole number from 0 to ${MAX_AGE_LIMIT}.`, issue.input, {})
  if (expected === 'boolean') return problem(loc, 'bool_type', 'This must be true or false.', issue.input, {})
  if (expected === 'object')
    return problem(loc, 'object_type', 'The body must be a JSON object.', issue.input, { expected })
  return problem(loc, 'string_type', 'This must be a string.', issue.input, { expected })
}

function wellTypedFields(body: unknown, malformed: readonly Problem[]): Shape {
  if (!isObject(body)) return {}
  const faulty = new Set(malformed.filter(({ loc }) => loc.length === 2).map(({ loc }) => loc[1]))
  const wellTyped = Object.entries(body).filter(([name]) => !faulty.has(name) && name in shape.shape)
  // The other entries of a list with a faulty entry are checked as well. '' replaces the faulty entry to keep their positions.
  const strings = wellTyped.map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? one : '')) : value,
  ])
  return shape.parse(Object.fromEntries(strings))
}

/** The problem with the value from the body, because `wellTypedFields` replaces faulty entries of a list. */
function asSent({ loc, type, msg, ctx }: Problem, body: unknown): Problem {
  const sent = loc.slice(1).reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], body)
  return problem(loc, type, msg, sent, ctx)
}

type Fault = (problem: Problem) => void

/** Reports the URIs that are refused, and returns how many can be used. */
function checkUris(
  field: 'redirect_uris' | 'post_logout_redirect_uris',
  uris: readonly string[],
  policy: RedirectUriPolicy,
  fault: Fault,
): number {
  if (uris.length > METADATA_LIST_LIMIT) fault(tooMany(field, uris))
  let usable = 0
  for (const [index, uri] of uris.slice(0, METADATA_LIST_LIMIT).entries()) {
    const verdict = checkRedirectUri(uri, policy)
    if (verdict.kind === 'refused') {
      const type = URL.canParse(uri) ? 'value_error' : 'url_parsing'
      fault(problem(['body', field, String(index)], type, `The redirect URI ${verdict.reason}.`, uri, {}))
    }
    if (verdict.kind !== 'dormant') usable += 1
  }
  return usable
}

function noneUsable(uris: readonly string[], { apps }: RedirectUriPolicy): Problem {
  const sent = [...new Set(uris.flatMap((uri) => /^[a-z][a-z0-9+.-]{0,39}(?=:)/i.exec(uri) ?? []))].slice(0, 3)
  const msg = `No redirect URI can be used: at least one must use https, http on loopback, or a private-use scheme that GRANTOR_REDIRECT_SCHEMES of the server allows${sent.length === 0 ? '' : ` (sent: ${sent.join(', ')})`}.`
  return problem(['body', 'redirect_uris'], 'url_scheme', msg, uris, { expected: ['https', 'http', ...apps.schemes] })
}

function readAuthMethod(sent: string | null | undefined, fault: Fault): ClientAuthMethod {
  const wanted = sent === null || sent === undefined || sent === '' ? 'client_secret_post' : sent
  const method = CLIENT_AUTH_METHODS.find((known) => known === wanted)
  if (method !== undefined) return method
  const msg = 'This client authentication method is not supported.'
  fault(problem(['body', 'token_endpoint_auth_method'], 'literal_error', msg, sent, { expected: CLIENT_AUTH_METHODS }))
  return 'client_secret_post'
}

/**
 * RFC 7591 §2.1 relates grant types and response types. Values that are not supported are dropped; the registration fails
 * only if none is left (decision 0017).
 */
function negotiateGrants(
  fields: Shape,
  authMethod: ClientAuthMethod,
  offered: readonly GrantType[],
  fault: Fault,
): Pick<ClientMetadata, 'grantTypes' | 'responseTypes'> {
  const sentGrants = fields.grant_types ?? undefined
  const sentResponses = fields.response_types ?? undefined
  const mayUseCode = (sentResponses ?? ['code']).includes('code')
  const requested = offered.filter((name) => (sentGrants ?? ['authorization_code']).includes(name))
  const grantTypes = usableGrantTypes(requested, { isPublic: authMethod === 'none', mayUseCode })
  const hasCode = mayUseCode && (sentResponses === undefined || needCode(grantTypes))
  const responseTypes: readonly 'code'[] = hasCode ? ['code'] : []
  if (grantTypes.length > 0) return { grantTypes: inOrder(sentGrants, grantTypes), responseTypes }
  const field = sentGrants === undefined ? 'response_types' : 'grant_types'
  const msg = 'None of these values is supported together with the rest of the request.'
  const expected = field === 'grant_types' ? offered : ['code']
  fault(problem(['body', field], 'literal_error', msg, fields[field], { expected }))
  return { grantTypes, responseTypes }
}

/** Sorts the kept grant types in the caller's order, so that the response repeats what the caller sent. */
function inOrder(sent: readonly string[] | undefined, kept: readonly GrantType[]): readonly GrantType[] {
  const isKept = (name: string): name is GrantType => kept.some((grant) => grant === name)
  return sent?.filter((name, index): name is GrantType => isKept(name) && sent.indexOf(name) === index) ?? kept
}

function readScope(sent: string | null | undefined, policy: RegistrationPolicy, fault: Fault): Scope | undefined {
  if (sent === null || sent === undefined || sent === '') return undefined
  const scope = sent.length > MAXIMA.registeredScope.most ? undefined : parseScope(sent)
  if (scope !== undefined) return narrow(scope, policy.declaresScope)
  fault(problem(['body', 'scope'], 'value_error', 'The scope is malformed, or has too many values.', sent, {}))
  return NO_SCOPE
}

/** The metadata under the names of RFC 7591 §2. Members without a value are undefined, which JSON leaves out. */
export function describeMetadata(metadata: ClientMetadata): Readonly<Record<string, unknown>> {
  return {
    redirect_uris: metadata.redirectUris,
    token_endpoint_auth_method: metadata.authMethod,
    ...(metadata.keys === undefined ? {} : describeKeys(metadata.keys)),
    grant_types: metadata.grantTypes,
    response_types: metadata.responseTypes,
    require_pushed_authorization_requests: metadata.parRequired,
    scope: metadata.scope,
    dpop_bound_access_tokens: metadata.dpopBound,
    id_token_signed_response_alg: metadata.idTokenAlgorithm,
    default_max_age: metadata.defaultMaxAge,
    default_acr_values: metadata.defaultAcrValues,
    require_auth_time: metadata.requireAuthTime,
    post_logout_redirect_uris: metadata.postLogoutRedirectUris,
    backchannel_logout_uri: metadata.backchannelLogoutUri,
    backchannel_logout_session_required: metadata.backchannelLogoutSessionRequired,
    ...metadata.descriptive,
  }
}
