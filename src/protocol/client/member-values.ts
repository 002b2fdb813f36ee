import type { Fault } from './registration-rules.ts'
import { narrow, NO_SCOPE, parseScope, type Scope } from '../token/scope.ts'
import { isLoopbackHost } from '../uri/loopback.ts'
import { checkRedirectUri, type RedirectUriPolicy } from '../uri/redirect-uri.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { problem, type Problem } from '../../base/validation.ts'

const LIST_LIMIT = MAXIMA.metadataList.most

/** Reports the URIs that are refused, and returns how many can be used. */
export function checkUris(
  field: 'redirect_uris' | 'post_logout_redirect_uris',
  sent: readonly string[],
  policy: RedirectUriPolicy,
  fault: Fault,
): number {
  if (sent.length > LIST_LIMIT) fault(tooMany(field, sent))
  let usable = 0
  for (const [index, uri] of sent.slice(0, LIST_LIMIT).entries()) {
    const verdict = checkRedirectUri(uri, policy)
    if (verdict.kind === 'refused') {
      const type = URL.canParse(uri) ? 'value_error' : 'url_parsing'
      fault(problem(['body', field, String(index)], type, `The redirect URI ${verdict.reason}.`, uri, {}))
    }
    if (verdict.kind !== 'dormant') usable += 1
  }
  return usable
}

/** The problem of redirect URIs of which none can be used. */
export function noneUsable(sent: readonly string[], { apps }: RedirectUriPolicy): Problem {
  const schemes = [...new Set(sent.flatMap((uri) => /^[a-z][a-z0-9+.-]{0,39}(?=:)/i.exec(uri) ?? []))].slice(0, 3)
  const msg = `No redirect URI can be used: at least one must use https, http on loopback, or a private-use scheme that GRANTOR_REDIRECT_SCHEMES of the server allows${schemes.length === 0 ? '' : ` (sent: ${schemes.join(', ')})`}.`
  return problem(['body', 'redirect_uris'], 'url_scheme', msg, sent, { expected: ['https', 'http', ...apps.schemes] })
}

function tooMany(field: string, sent: readonly string[]): Problem {
  return problem(['body', field], 'too_many', `This may have at most ${LIST_LIMIT} entries.`, sent, {
    max_length: LIST_LIMIT,
  })
}

/** Returns the part of the scope that may be registered (decision 0006). */
export function readScope(sent: string, declaresScope: (token: string) => boolean, fault: Fault): Scope {
  const scope = sent.length > MAXIMA.registeredScope.most ? undefined : parseScope(sent)
  if (scope !== undefined) return narrow(scope, declaresScope)
  fault(problem(['body', 'scope'], 'value_error', 'The scope is malformed, or has too many values.', sent, {}))
  return NO_SCOPE
}

/** What is wrong with a text of at most `limit` characters. */
export function checkText(field: string, sent: string, limit: number): Problem | undefined {
  // A text never has more characters than UTF-16 units, so the cheap comparison comes first.
  if (sent.length > limit && [...sent].length > limit) {
    return problem(['body', field], 'too_long', `This may have at most ${limit} characters.`, sent, {
      max_length: limit,
    })
  }
  if (!/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u.test(sent)) return undefined
  return problem(['body', field], 'value_error', 'This contains a control character.', sent, {})
}

/** What is wrong with a link about the client: it must use https, or http on loopback for development (threats.md REG-15). */
export function checkLink(field: string, sent: string): Problem | undefined {
  const loc = ['body', field]
  const limit = MAXIMA.uri.most
  if (sent.length > limit)
    return problem(loc, 'too_long', `This may have at most ${limit} characters.`, sent, { max_length: limit })
  const url = /[\s\p{Cc}\\]/u.test(sent) ? null : URL.parse(sent)
  if (url === null) return problem(loc, 'url_parsing', 'This is not an absolute URL.', sent, {})
  if (url.username !== '' || url.password !== '')
    return problem(loc, 'value_error', 'The URL has a user name or password.', sent, {})
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopbackHost(url.hostname)) return undefined
  return problem(loc, 'url_scheme', 'The URL must use https.', sent, { expected: ['https'] })
}

/** Reports the addresses that are none. */
export function checkContacts(sent: readonly string[], fault: Fault): void {
  if (sent.length > LIST_LIMIT) fault(tooMany('contacts', sent))
  for (const [index, contact] of sent.slice(0, LIST_LIMIT).entries()) {
    if (contact.length <= MAXIMA.email.most && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(contact)) continue
    fault(problem(['body', 'contacts', String(index)], 'value_error', 'This is not an e-mail address.', contact, {}))
  }
}
