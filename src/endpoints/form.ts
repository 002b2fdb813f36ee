import { invalidRequest } from '../protocol/errors.ts'
import type { Parameters } from '../protocol/message.ts'
import { problem } from '../protocol/validation.ts'

/** RFC 6749 §2.3.1: parameters must not stand in the address, where logs keep them. */
export function refuseQuery(query: Parameters): void {
  if (query.names.length === 0) return
  const problems = query.names.map((name) =>
    problem(['query', name], 'value_error', 'This belongs into the body.', null, {}),
  )
  throw invalidRequest('credentials_in_query', { problems })
}

/** RFC 6749 §3.2: a parameter stands at most once. */
export function refuseRepeated({ repeated }: Parameters): void {
  if (repeated.length === 0) return
  const problems = repeated.map((name) => problem(['body', name], 'repeated', 'This may stand once.', null, {}))
  throw invalidRequest('parameter_repeated', { problems })
}
