import type { AuthorizationErrorCode } from './authorization-response.ts'
import { parseOrganizationId, type OrganizationId } from './ids.ts'
import type { Parameters } from './message.ts'
import { parseCodeChallenge, type CodeChallenge } from './pkce.ts'
import { parseResource, type Resource } from './resource.ts'
import { parseScope, type Scope } from './scope.ts'

/** How the person is to be asked. OpenID Connect Core §3.1.2.1. */
export type Prompt = 'none' | 'login' | 'consent'

/** An authorization request, after client and redirect URI are known good. RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2. */
export interface AuthorizationRequest {
  readonly codeChallenge: CodeChallenge
  /** undefined: the client named none. */
  readonly scope: Scope | undefined
  readonly resources: readonly Resource[]
  readonly prompts: ReadonlySet<Prompt>
  readonly loginHint: string | undefined
  /** undefined: the person chooses (decisions.md D4). */
  readonly organizationId: OrganizationId | undefined
}

/** Why a request is refused, for the log and docs/errors.md. */
export const AUTHORIZATION_FAULTS = [
  'parameter_repeated',
  'state_too_long',
  'request_object',
  'response_type_missing',
  'response_type_unsupported',
  'response_mode_unsupported',
  'code_challenge_method_not_s256',
  'code_challenge_malformed',
  'scope_malformed',
  'scope_not_allowed',
  'resource_malformed',
  'resource_unknown',
  'prompt_malformed',
  'grant_type_not_registered',
  'organization_malformed',
  'organization_of_others',
  'no_session',
  'no_consent',
] as const
export type AuthorizationFault = (typeof AUTHORIZATION_FAULTS)[number]

/** Either the request, or the error for the client. */
export type AuthorizationReading =
  | { readonly kind: 'accepted'; readonly request: AuthorizationRequest }
  | { readonly kind: 'refused'; readonly error: AuthorizationErrorCode; readonly reason: AuthorizationFault }

const STATE_LIMIT = 4096
const RESOURCE_LIMIT = 8
const HINT_LIMIT = 254
/** May stand more than once. RFC 8707 §2. */
const REPEATABLE = 'resource'

/** `state` as the client gets it back, byte for byte; undefined also when it is too long to carry. */
export function readState(parameters: Parameters): string | undefined {
  const state = parameters.get('state')
  return state !== undefined && state.length <= STATE_LIMIT && !parameters.repeated.includes('state')
    ? state
    : undefined
}

/** Checks in the order of the RFC; the first fault is the answer. */
export function readAuthorizationRequest(parameters: Parameters): AuthorizationReading {
  const repeated = parameters.repeated.find((name) => name !== REPEATABLE)
  if (repeated !== undefined) return refused('invalid_request', 'parameter_repeated')
  if ((parameters.get('state')?.length ?? 0) > STATE_LIMIT) return refused('invalid_request', 'state_too_long')
  if (parameters.get('request') !== undefined) return refused('request_not_supported', 'request_object')
  if (parameters.get('request_uri') !== undefined) return refused('request_uri_not_supported', 'request_object')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) return refused('invalid_request', 'response_type_missing')
  if (responseType !== 'code') return refused('unsupported_response_type', 'response_type_unsupported')
  if ((parameters.get('response_mode') ?? 'query') !== 'query')
    return refused('invalid_request', 'response_mode_unsupported')
  // RFC 9700 §2.1.1: S256 for every client, also for confidential ones. An absent method would mean `plain`.
  if (parameters.get('code_challenge_method') !== 'S256')
    return refused('invalid_request', 'code_challenge_method_not_s256')
  const codeChallenge = parseCodeChallenge(parameters.get('code_challenge') ?? '')
  if (codeChallenge === undefined) return refused('invalid_request', 'code_challenge_malformed')

  const scopeText = parameters.get('scope')
  const scope = scopeText === undefined ? undefined : parseScope(scopeText)
  if (scopeText !== undefined && scope === undefined) return refused('invalid_scope', 'scope_malformed')
  const resources = readResources(parameters.all(REPEATABLE))
  if (resources === undefined) return refused('invalid_target', 'resource_malformed')
  const prompts = readPrompts(parameters.get('prompt'))
  if (prompts === undefined) return refused('invalid_request', 'prompt_malformed')

  const loginHint = parameters.get('login_hint')?.slice(0, HINT_LIMIT)
  const organization = parameters.get('org_id')
  const organizationId = organization === undefined ? undefined : parseOrganizationId(organization)
  if (organizationId === undefined && organization !== undefined)
    return refused('invalid_request', 'organization_malformed')
  return { kind: 'accepted', request: { codeChallenge, scope, resources, prompts, loginHint, organizationId } }
}

function readResources(texts: readonly string[]): readonly Resource[] | undefined {
  if (texts.length > RESOURCE_LIMIT) return undefined
  const resources = texts.map(parseResource)
  return resources.includes(undefined) ? undefined : [...new Set(resources.filter((one) => one !== undefined))]
}

/** `none` stands alone. Values that other servers define are ignored. */
function readPrompts(text: string | undefined): ReadonlySet<Prompt> | undefined {
  const values = (text ?? '').split(' ').filter((value) => value !== '')
  if (values.includes('none')) return values.length === 1 ? new Set(['none']) : undefined
  const prompts = new Set<Prompt>()
  if (values.includes('login') || values.includes('select_account')) prompts.add('login')
  if (values.includes('consent')) prompts.add('consent')
  return prompts
}

function refused(error: AuthorizationErrorCode, reason: AuthorizationFault): AuthorizationReading {
  return { kind: 'refused', error, reason }
}
