import { invalidRequest } from '../protocol/errors.ts'
import type { Parameters } from '../base/message.ts'
import { problem } from '../base/validation.ts'

/** The names that an endpoint reads from a form, and those of credentials in other extensions of OAuth. */
const FORM_ONLY: ReadonlySet<string> = new Set([
  'access_token',
  'actor_token',
  'assertion',
  'client_assertion',
  'client_assertion_type',
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'device_code',
  'grant_type',
  'id_token',
  'org_id',
  'password',
  'redirect_uri',
  'refresh_token',
  'resource',
  'scope',
  'subject_token',
  'token',
  'token_type_hint',
  'user_id',
  'username',
])

/**
 * RFC 6749 §2.3.1: these parameters must not be sent in the query, because logs keep it. Other parameters of a query are ignored
 * (RFC 6749 §3.2), and never read as if they were in the form.
 *
 * @throws OAuthError invalid_request
 */
export function refuseQuery(query: Parameters): void {
  if (query.names.length === 0) return
  const faulty = query.names.filter((name) => FORM_ONLY.has(name))
  if (faulty.length === 0) return
  const problems = faulty.map((name) =>
    problem(['query', name], 'value_error', 'This parameter must be sent in the request body.', null, {}),
  )
  throw invalidRequest('credentials_in_query', { problems })
}

/**
 * RFC 6749 §3.2: a parameter must not be repeated. At the token endpoint `resource` may be (RFC 8707 §2.2).
 *
 * @throws OAuthError invalid_request
 */
export function refuseRepeated({ repeated }: Parameters, repeatable?: 'resource'): void {
  const faulty = repeated.filter((name) => name !== repeatable)
  if (faulty.length === 0) return
  const problems = faulty.map((name) =>
    problem(['body', name], 'repeated', 'This parameter must not be repeated.', null, {}),
  )
  throw invalidRequest('parameter_repeated', { problems })
}
