import type { Context } from '../../ports/context.ts'
import { readRegistration, type ClientMetadata } from '../../protocol/client-metadata.ts'
import { OAuthError, tooManyRequests } from '../../protocol/errors.ts'
import { readJson } from '../../protocol/json.ts'
import type { Problem } from '../../protocol/validation.ts'
import { loadScopeCatalog, declaresScope } from '../token/scope-catalog.ts'

export type RegistrationNeeds = Pick<Context, 'apis' | 'issuer' | 'settings'>

/** Fields that were sent as null and are echoed as null, and fields for which the server substitutes its own value. */
export type RegistrationEcho = Readonly<Record<string, null | false>>

/** What a registration, or a change of one, asks for, after negotiation. */
export interface RegistrationRequest {
  readonly metadata: ClientMetadata
  /** Members of the answer that are not registered. */
  readonly echo: RegistrationEcho
}

/**
 * Reads the metadata of a request. RFC 7591 §3.1; RFC 7592 §2.2 says the same of a change. `judge` names what else is wrong
 * with the members, so that one answer names all faults.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri
 */
export async function readRegistrationRequest(
  context: RegistrationNeeds,
  body: string,
  judge: (members: Readonly<Record<string, unknown>>) => readonly Problem[],
): Promise<RegistrationRequest> {
  const json = readJson(body)
  if (json.kind === 'malformed') {
    throw new OAuthError('invalid_client_metadata', 'json_malformed', { status: json.status, problems: [json.problem] })
  }
  const catalog = await loadScopeCatalog(context)
  const reading = readRegistration(json.value, {
    apps: context.settings.redirectApps,
    ownOrigin: new URL(context.issuer).origin,
    declaresScope: (token) => declaresScope(catalog, token),
  })
  const isObject = typeof json.value === 'object' && json.value !== null && !Array.isArray(json.value)
  const members = isObject ? (json.value as Readonly<Record<string, unknown>>) : {}
  const more = isObject ? judge(members) : []
  if (reading.kind === 'malformed') {
    const problems = [...more, ...reading.problems]
    throw new OAuthError('invalid_client_metadata', 'metadata_malformed', { status: 422, problems })
  }
  if (reading.kind === 'not-allowed') {
    const problems = [...more, ...reading.problems]
    throw reading.redirectUriAtFault
      ? new OAuthError('invalid_redirect_uri', 'redirect_uri_not_allowed', { problems })
      : new OAuthError('invalid_client_metadata', 'metadata_not_allowed', { problems })
  }
  if (more.length > 0) throw new OAuthError('invalid_client_metadata', 'metadata_not_allowed', { problems: more })
  return { metadata: reading.metadata, echo: { ...nullsOf(reading.nulls), ...substitutesFor(members) } }
}

function nullsOf(fields: readonly string[]): RegistrationEcho {
  return Object.fromEntries(fields.map((field) => [field, null]))
}

/**
 * RFC 7591 §2: the server may replace what it does not offer. RFC 9449 §5.2 makes `true` a promise to refuse bearer tokens,
 * and a client that reads no answer to it would count on that.
 */
function substitutesFor({ dpop_bound_access_tokens: sent }: Readonly<Record<string, unknown>>): RegistrationEcho {
  return typeof sent === 'boolean' ? { dpop_bound_access_tokens: false } : {}
}

/** @throws OAuthError temporarily_unavailable */
export function takeRegistrationBudget({ budgets, clock }: Pick<Context, 'budgets' | 'clock'>, network: string): void {
  const outcome = budgets.take('registration', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('registration', outcome)
}
