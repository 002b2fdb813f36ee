import { invalidRequest, type OAuthError } from '../protocol/errors.ts'
import { problem } from '../protocol/validation.ts'

/** RFC 9110 §15.5.6. `methods`: those that the path has; `allow`: what is told of them. */
export function wrongMethod(method: string | undefined, methods: readonly string[], allow: string): OAuthError {
  const problems = [
    problem(['method'], 'literal_error', 'Method not allowed for this path.', method, { expected: methods }),
  ]
  return invalidRequest('method_wrong', { status: 405, headers: { Allow: allow }, problems })
}
