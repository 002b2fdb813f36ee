import { invalidRequest } from '../protocol/errors.ts'
import type { Parameters } from '../protocol/message.ts'
import { problem } from '../protocol/validation.ts'

/** RFC 6749 §2.3.1: parameters must not be sent in the query, because logs keep it. @throws OAuthError invalid_request */
export function refuseQuery(query: Parameters): void {
  if (query.names.length === 0) return
  const problems = query.names.map((name) =>
    problem(['query', name], 'value_error', 'Parameters must be sent in the request body.', null, {}),
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
