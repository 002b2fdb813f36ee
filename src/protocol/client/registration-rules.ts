import { readClientKeys, type KeyFields, type RegisteredKeys } from './keys.ts'
import { needCode, usableGrantTypes, type GrantType } from '../token/grant-types.ts'
import { checkOutboundUrl, type OutboundPolicy } from '../uri/outbound-url.ts'
import type { RedirectUriPolicy } from '../uri/redirect-uri.ts'
import { problem, type Problem } from '../../base/validation.ts'

/** RFC 7591 §2: how a client authenticates at the token endpoint. */
export const CLIENT_AUTH_METHODS = ['client_secret_post', 'client_secret_basic', 'none', 'private_key_jwt'] as const
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number]

/** The settings that the values of a registration depend on. */
export interface ValuePolicy extends RedirectUriPolicy {
  /** Whether a scope token may be registered (decision 0006). */
  readonly declaresScope: (token: string) => boolean
  /** The grant types that the server offers. */
  readonly grantTypes: readonly GrantType[]
  /** Where the server may send requests; undefined: nowhere. */
  readonly outbound: OutboundPolicy | undefined
  /** Whether the client may be notified at this URL (client/policy.ts). */
  readonly mayBeNotifiedAt: (url: string) => boolean
  /** Where the client is notified already, which stays allowed. */
  readonly notifiedAt?: string | undefined
}

export type Fault = (problem: Problem) => void

/** What decides about the values of a registration: the policy, and what several members say together. */
export interface RegistrationRules {
  readonly policy: ValuePolicy
  readonly fault: Fault
  readonly authMethod: ClientAuthMethod
  readonly grants: NegotiatedGrants
  /** Empty with other methods than `private_key_jwt`. */
  readonly keys: RegisteredKeys
  /** Whether the client is notified of the end of a session. Without, its members for that are left out, so that it does not rely on it. */
  readonly isNotified: boolean
}

interface NegotiatedGrants {
  readonly grantTypes: readonly GrantType[]
  readonly responseTypes: readonly 'code'[]
}

/** The members of a request that are read together. */
export interface JointFields extends KeyFields {
  readonly token_endpoint_auth_method?: string | null | undefined
  readonly grant_types?: readonly string[] | null | undefined
  readonly response_types?: readonly string[] | null | undefined
  readonly backchannel_logout_uri?: string | null | undefined
}

/** Reads the members that are read together, and reports their faults. */
export function registrationRules(fields: JointFields, policy: ValuePolicy, fault: Fault): RegistrationRules {
  const authMethod = readAuthMethod(fields.token_endpoint_auth_method, fault)
  return {
    policy,
    fault,
    authMethod,
    grants: negotiateGrants(fields, authMethod, policy.grantTypes, fault),
    keys: authMethod === 'private_key_jwt' ? readClientKeys(fields, policy.outbound, fault) : {},
    isNotified: isNotified(fields.backchannel_logout_uri, policy, fault),
  }
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
 * only if none is left (decision 0005).
 */
function negotiateGrants(
  fields: JointFields,
  authMethod: ClientAuthMethod,
  offered: readonly GrantType[],
  fault: Fault,
): NegotiatedGrants {
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

/** OpenID Connect Back-Channel Logout 1.0 §2.2. */
function isNotified(uri: string | null | undefined, policy: ValuePolicy, fault: Fault): boolean {
  if (uri === null || uri === undefined || uri === '') return false
  const { outbound, mayBeNotifiedAt, notifiedAt } = policy
  if (uri === notifiedAt) return true
  if (outbound === undefined || !mayBeNotifiedAt(uri)) return false
  const verdict = checkOutboundUrl(uri, outbound)
  if (verdict.kind === 'refused')
    fault(problem(['body', 'backchannel_logout_uri'], 'value_error', `The URL ${verdict.reason}.`, uri, {}))
  return true
}
