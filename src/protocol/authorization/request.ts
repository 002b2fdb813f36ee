import type { AuthorizationErrorCode, ResponseMode } from './response.ts'
import type { ClientRights } from '../client/policy.ts'
import { parseJson } from '../../base/json.ts'
import { parseOrganizationId, type OrganizationId } from '../ids.ts'
import type { Parameters } from '../../base/message.ts'
import { readOpenidRequest, type OpenidFault, type OpenidRequest } from '../openid/request.ts'
import { parseCodeChallenge, type CodeChallenge } from './pkce.ts'
import { isPrivateUse } from '../uri/redirect-uri.ts'
import { isThumbprint } from '../token/dpop-proof.ts'
import { parseResources, type Resource } from '../token/resource.ts'
import { isOpenid, NO_SCOPE, parseScope, type Scope } from '../token/scope.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** Which pages the client wants the user to see. OpenID Connect Core §3.1.2.1. */
export type Prompt = 'none' | 'login' | 'consent'

/** An authorization request whose client and redirect URI are already checked. RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2. */
export interface AuthorizationRequest {
  /** undefined: the client may omit PKCE, and did. */
  readonly codeChallenge: CodeChallenge | undefined
  /** `dpop_jkt`: the key to which the code is bound. RFC 9449 §10. */
  readonly keyThumbprint: string | undefined
  /** undefined: the client requested no scope. */
  readonly scope: Scope | undefined
  readonly resources: readonly Resource[]
  readonly prompts: ReadonlySet<Prompt>
  readonly loginHint: string | undefined
  /** undefined: the user chooses (decision 0005). */
  readonly organizationId: OrganizationId | undefined
  readonly openid: OpenidRequest
}

/**
 * Why a request is refused: the reason for the log, and the `error_description` for the client's developer, which the log has too. The character set of RFC 6749 §4.1.2.1 has neither quotes nor backslashes. A refusal of scopes has a description
 * of its own, which names them.
 */
export const AUTHORIZATION_FAULTS = {
  parameter_repeated: 'A parameter other than resource is repeated.',
  state_too_long: `The state has more than ${MAXIMA.state.most} characters.`,
  request_object: 'Request objects are not supported: send the parameters themselves.',
  par_required: 'The client must push its authorization requests (RFC 9126).',
  response_type_missing: 'The response_type is missing: send response_type=code.',
  response_type_unsupported: 'The response_type is not supported: send response_type=code.',
  response_mode_unsupported:
    'The response_mode is not supported: send query, or form_post for a redirect URI of http or https.',
  registration_parameter:
    'The registration parameter is not supported: register the client, or use a metadata document.',
  code_challenge_missing:
    'code challenge required: send code_challenge and code_challenge_method=S256 (RFC 7636 section 4.4.1).',
  code_challenge_not_optional:
    'code challenge required: send code_challenge and code_challenge_method=S256 (RFC 7636 section 4.4.1), or scope=openid and a nonce with an https redirect URI, if the rules of the client permit that. An application that can do neither: grantor client set-rules ... --consent asked --pkce optional.',
  code_challenge_method_not_s256:
    'transform algorithm not supported: send code_challenge_method=S256 (RFC 7636 section 4.4.1).',
  code_challenge_malformed: 'The code_challenge is not 43 base64url characters (RFC 7636 section 4.2).',
  dpop_jkt_malformed: 'The dpop_jkt is not a thumbprint of 43 base64url characters (RFC 9449 section 10).',
  scope_malformed: `The scope is malformed, or has more than ${MAXIMA.scopesOfRequest.most} values.`,
  scope_not_allowed: 'The client gets no scope.',
  audience_ambiguous: 'The request names no resource, and its scopes belong to several APIs.',
  token_too_long: `A token has at most ${MAXIMA.scopesOfRequest.most} scopes, and ${MAXIMA.tokenTexts.most} characters of scopes and resources: request fewer scopes, or name one resource.`,
  resource_malformed: `A resource is not an absolute URI without a fragment or user information, or there are more than ${MAXIMA.resourcesOfRequest.most}.`,
  resource_unknown: 'No API is declared for a resource of the request.',
  prompt_malformed: 'The prompt has none together with another value.',
  grant_type_not_registered: 'The client did not register the grant type authorization_code.',
  organization_malformed: 'The org_id is not the id of an organization.',
  organization_of_others: 'The user does not belong to the organization of org_id.',
  rejected_by_application: 'The application that signs users in rejected the request.',
  access_rule: 'The user does not get what the request asks for.',
  no_session: 'The request has prompt=none, and the user would see a page, such as the sign-in.',
  no_consent: 'The request has prompt=none, and the user has not consented to it before.',
  nonce_malformed: `The nonce has more than ${MAXIMA.nonce.most} characters, or other than printable ASCII characters.`,
  max_age_malformed: 'The max_age is not a whole number of seconds from 0 to 1000000000.',
  hint_too_long: `The id_token_hint has more than ${MAXIMA.idTokenHint.most} characters.`,
  hint_wrong: 'The id_token_hint is not an ID token that this server issued to the client.',
  claims_malformed: `The claims parameter is not a JSON object with at most ${MAXIMA.claims.most} claims in ${MAXIMA.claimsParameter.most} characters and one text as sub.`,
  acr_unavailable: 'The claims parameter requires an acr value that users cannot reach here.',
  authentication_unmet: 'The user cannot authenticate as the request, or all of its scopes, require.',
  authentication_too_weak: 'The request has prompt=none, and it or a scope requires more than the session has.',
  user_differs: 'The user who signed in is not the one that the request names.',
} as const
export type AuthorizationFault = keyof typeof AUTHORIZATION_FAULTS

/** Either the request, or the error for the client. */
export type ParsedAuthorizationRequest =
  | { readonly kind: 'accepted'; readonly request: AuthorizationRequest }
  | { readonly kind: 'refused'; readonly error: AuthorizationErrorCode; readonly reason: AuthorizationFault }

/** Bytes of `state` in the store, escaped as JSON. Each pending request stores it (threats.md BND-01). */
const STATE_LIMIT = MAXIMA.state.most
const HINT_LIMIT = MAXIMA.email.most
/** The one parameter that may be repeated. RFC 8707 §2. */
const REPEATABLE = 'resource'

/** The `state` that goes back to the client, byte for byte. undefined if it is absent, repeated or too long. */
export function readState(parameters: Parameters): string | undefined {
  const state = parameters.get('state') ?? textIn(parameters.get('request'), 'state')
  return state !== undefined && !isTooLong(state) && !parameters.repeated.includes('state') ? state : undefined
}

function isTooLong(state: string): boolean {
  return Buffer.byteLength(JSON.stringify(state)) > STATE_LIMIT + '""'.length
}

/** What the client, which is known already, may do. */
export interface RequestTerms {
  /** When the client may omit PKCE. */
  readonly pkce: ClientRights['pkce']
  readonly redirectUri: string
}

/**
 * How the response reaches the client. OAuth 2.0 Form Post Response Mode §2. A browser cannot post a form to a private-use URI. An
 * unknown mode is refused by `readAuthorizationRequest`, by a response in the query. A request object (RFC 9101) is refused; the client
 * expects also that refusal in the mode that it asked for there.
 */
export function readResponseMode(parameters: Parameters, redirectUri: string): ResponseMode {
  const mode = parameters.get('response_mode') ?? textIn(parameters.get('request'), 'response_mode')
  return mode === 'form_post' && !isPrivateUse(redirectUri) ? 'form_post' : 'query'
}

/**
 * A member of a request object (RFC 9101), which is refused. Its signature does not matter, because the refusal goes to a registered
 * redirect URI, and the client finds it by what it sent there.
 */
function textIn(requestObject: string | undefined, member: 'response_mode' | 'state'): string | undefined {
  const payload = parseJson(Buffer.from(requestObject?.split('.')[1] ?? '', 'base64url').toString('utf8'))
  const value = (payload as Readonly<Record<string, unknown>> | null | undefined)?.[member]
  return typeof value === 'string' ? value : undefined
}

/** Checks the parameters in the order of the RFC, and returns the first fault. */
export function readAuthorizationRequest(
  parameters: Parameters,
  { pkce, redirectUri }: RequestTerms,
): ParsedAuthorizationRequest {
  const repeated = parameters.repeated.find((name) => name !== REPEATABLE)
  if (repeated !== undefined) return refused('invalid_request', 'parameter_repeated')
  if (isTooLong(parameters.get('state') ?? '')) return refused('invalid_request', 'state_too_long')
  if (parameters.get('request') !== undefined) return refused('request_not_supported', 'request_object')
  if (parameters.get('request_uri') !== undefined) return refused('request_uri_not_supported', 'request_object')
  if (parameters.get('registration') !== undefined)
    return refused('registration_not_supported', 'registration_parameter')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) return refused('invalid_request', 'response_type_missing')
  if (responseType !== 'code') return refused('unsupported_response_type', 'response_type_unsupported')
  if ((parameters.get('response_mode') ?? 'query') !== readResponseMode(parameters, redirectUri))
    return refused('invalid_request', 'response_mode_unsupported')
  const codeChallenge = readCodeChallenge(parameters, pkce)
  if (typeof codeChallenge === 'object') return refused('invalid_request', codeChallenge.fault)

  const keyThumbprint = parameters.get('dpop_jkt')
  if (keyThumbprint !== undefined && !isThumbprint(keyThumbprint))
    return refused('invalid_request', 'dpop_jkt_malformed')

  const scopeText = parameters.get('scope')
  const scope = scopeText === undefined ? undefined : parseScope(scopeText)
  if (scopeText !== undefined && scope === undefined) return refused('invalid_scope', 'scope_malformed')
  const resources = parseResources(parameters.all(REPEATABLE))
  if (resources === undefined) return refused('invalid_target', 'resource_malformed')
  const prompts = readPrompts(parameters.get('prompt'))
  if (prompts === undefined) return refused('invalid_request', 'prompt_malformed')

  const loginHint = parameters.get('login_hint')?.slice(0, HINT_LIMIT)
  const organization = parameters.get('org_id')
  const organizationId = organization === undefined ? undefined : parseOrganizationId(organization)
  if (organizationId === undefined && organization !== undefined)
    return refused('invalid_request', 'organization_malformed')
  const openid = readOpenidRequest(parameters)
  if (typeof openid === 'string') return refused(OPENID_ERRORS[openid], openid)
  return {
    kind: 'accepted',
    request: { codeChallenge, keyThumbprint, scope, resources, prompts, loginHint, organizationId, openid },
  }
}

const OPENID_ERRORS: Readonly<Record<OpenidFault, AuthorizationErrorCode>> = {
  nonce_malformed: 'invalid_request',
  max_age_malformed: 'invalid_request',
  hint_too_long: 'invalid_request',
  claims_malformed: 'invalid_request',
  acr_unavailable: 'unmet_authentication_requirements',
}

/**
 * RFC 9700 §2.1.1: S256 for every client, also for confidential ones. An absent method would mean `plain`. A confidential client
 * for which the operator made an exception may send neither parameter; `replacesPkce` says for which requests that holds.
 */
function readCodeChallenge(
  parameters: Parameters,
  pkce: RequestTerms['pkce'],
): CodeChallenge | undefined | { readonly fault: AuthorizationFault } {
  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  const mayBeAbsent = (pkce === 'nonce' || pkce === 'optional') && method === undefined
  if (challenge === undefined && mayBeAbsent) return undefined
  if (challenge === undefined) return { fault: challengeFault(pkce) }
  if (method !== 'S256') return { fault: 'code_challenge_method_not_s256' }
  return parseCodeChallenge(challenge) ?? { fault: 'code_challenge_malformed' }
}

/** The fault of a request without a challenge: the second one says which rule of the client would permit it. */
export function challengeFault(pkce: ClientRights['pkce']): 'code_challenge_missing' | 'code_challenge_not_optional' {
  return pkce === 'always' ? 'code_challenge_missing' : 'code_challenge_not_optional'
}

/**
 * Whether a request without a challenge binds its code well enough: by the rules of the client, or by the `nonce` of the ID token that is
 * `granted`, in which the client notices a code of another user. OAuth 2.1.
 */
export function replacesPkce(
  { scope }: Pick<AuthorizationRequest, 'scope'>,
  pkce: ClientRights['pkce'],
  granted: Pick<OpenidRequest, 'nonce'> | undefined,
): boolean {
  return pkce === 'optional' || (pkce === 'nonce' && isOpenid(scope ?? NO_SCOPE) && granted?.nonce !== undefined)
}

/** `none` must be the only value. Unknown values are ignored. */
function readPrompts(text: string | undefined): ReadonlySet<Prompt> | undefined {
  const values = (text ?? '').split(' ').filter((value) => value !== '')
  if (values.includes('none')) return values.length === 1 ? new Set(['none']) : undefined
  const prompts = new Set<Prompt>()
  if (values.includes('login') || values.includes('select_account')) prompts.add('login')
  if (values.includes('consent')) prompts.add('consent')
  return prompts
}

function refused(error: AuthorizationErrorCode, reason: AuthorizationFault): ParsedAuthorizationRequest {
  return { kind: 'refused', error, reason }
}
