import type { Request } from '../../ports/message.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import { missing } from '../../base/validation.ts'
import { refuseQuery, refuseRepeated } from '../form.ts'

/** Returns the `token` parameter. RFC 7009 §2.1, RFC 7662 §2.1. @throws OAuthError invalid_request */
export function readToken({ params, query }: Request): string {
  refuseQuery(query)
  refuseRepeated(params)
  const token = params.get('token')
  if (token === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', 'token')] })
  return token
}
