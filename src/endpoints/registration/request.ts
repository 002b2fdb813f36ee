import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { settleIdTokenAlgorithm } from '../../clients/new-client.ts'
import { registrationPolicy } from '../../clients/registration-policy.ts'
import { findPolicyRefusal } from '../../clients/evaluate-client.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'
import { readRegistration } from '../../protocol/client/metadata.ts'
import type { ClientOrigin, PolicyQuestion } from '../../protocol/client/policy.ts'
import { invalidRequest, OAuthError, tooManyRequests } from '../../protocol/errors.ts'
import { isObject, readJson } from '../../base/json.ts'
import {
  findForeignDestinations,
  limitScope,
  type RegistrationLimits,
} from '../../protocol/client/registration-template.ts'
import { problem, type Problem } from '../../base/validation.ts'

/** Fields that are echoed as null because they were sent as null, and fields for which the server substitutes a value. */
export type RegistrationEcho = Readonly<Record<string, null | 'public'>>

/** The metadata of a registration or update request, after negotiation. */
export interface RegistrationRequest {
  readonly metadata: ClientMetadata
  /** Members of the response that are not registered. */
  readonly echo: RegistrationEcho
}

/**
 * Parses the metadata of a registration (RFC 7591 §3.1) or of an update (RFC 7592 §2.2). `check` finds further problems in the
 * members, so that one response lists all problems. `limits` are those of the initial access token that the client registers
 * or registered with. `client`: what is known of it already.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri
 */
export async function readRegistrationRequest(
  context: Context,
  body: string,
  check: (members: Readonly<Record<string, unknown>>) => readonly Problem[],
  limits: RegistrationLimits | undefined,
  client: ClientOrigin,
): Promise<RegistrationRequest> {
  const json = readJson(body)
  if (json.kind === 'malformed') {
    throw new OAuthError('invalid_client_metadata', 'json_malformed', { status: json.status, problems: [json.problem] })
  }
  const policy = registrationPolicy(context, await context.apis(), client)
  const reading = readRegistration(json.value, policy, body.length)
  const members = isObject(json.value) ? json.value : {}
  const more = isObject(json.value) ? check(members) : []
  if (reading.kind === 'malformed') {
    const problems = [...more, ...reading.problems]
    throw new OAuthError('invalid_client_metadata', 'metadata_malformed', { status: 422, problems })
  }
  if (reading.kind === 'not-allowed') {
    throw notAllowed([...more, ...reading.problems])
  }
  if (more.length > 0) throw notAllowed(more)
  const foreign = findForeignDestinations(reading.metadata, limits)
  if (foreign.length > 0) throw notAllowed(foreign)
  const limited = limitScope(reading.metadata, limits, policy.declaresScope)
  const metadata = await settleIdTokenAlgorithm(context, client, limited)
  // RFC 7591 §3.2.1: the response has every registered value, also the scope that replaces a null.
  const nulls = reading.nulls.filter((field) => field !== 'scope' || metadata.scope === undefined)
  return { metadata, echo: { ...nullsOf(nulls), ...substitutesFor(members) } }
}

/** RFC 7591 §3.2.2: a fault of a redirect URI has an error code of its own. */
function notAllowed(problems: readonly Problem[]): OAuthError {
  return problems.some(({ loc }) => loc[1] === 'redirect_uris')
    ? new OAuthError('invalid_redirect_uri', 'redirect_uri_not_allowed', { problems })
    : new OAuthError('invalid_client_metadata', 'metadata_not_allowed', { problems })
}

function nullsOf(fields: readonly string[]): RegistrationEcho {
  return Object.fromEntries(fields.map((field) => [field, null]))
}

/**
 * RFC 7591 §2: the server may replace values that it does not support. The `sub` of a user is the same for every client (OpenID Connect
 * Core 1.0 §8).
 */
function substitutesFor({ subject_type: subjectType }: Readonly<Record<string, unknown>>): RegistrationEcho {
  return typeof subjectType === 'string' ? { subject_type: 'public' } : {}
}

/**
 * Refuses a client that the policy of the server does not allow with its new metadata.
 *
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata, invalid_request
 */
export async function requireAllowed(
  context: Context,
  client: ClientRecord,
  phase: PolicyQuestion['phase'],
): Promise<void> {
  const refusal = await findPolicyRefusal(context, client, phase)
  if (refusal === undefined) return
  if (refusal.reason !== 'domain-blocked') throw invalidRequest('registration_closed', { status: 404 })
  const { path, uri } = refusal
  const found = problem(['body', ...path], 'value_error', 'The operator of this server has blocked this host.', uri, {})
  throw path[0] === 'redirect_uris'
    ? new OAuthError('invalid_redirect_uri', 'domain_blocked', { problems: [found] })
    : new OAuthError('invalid_client_metadata', 'metadata_not_allowed', { problems: [found] })
}

/** @throws OAuthError temporarily_unavailable */
export function takeRegistrationBudget({ budgets, clock }: Context, network: string): void {
  const outcome = budgets.take('registration', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('registration', outcome)
}
