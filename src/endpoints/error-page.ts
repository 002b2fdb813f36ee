import type { Reply } from '../ports/message.ts'
import type { ErrorProblem } from '../ports/pages.ts'

const STATUS: Readonly<Record<ErrorProblem, number>> = {
  'client-unknown': 400,
  'client-unidentified': 400,
  'client-not-allowed': 403,
  'redirect-unknown': 400,
  'request-malformed': 400,
  expired: 400,
  'link-invalid': 400,
  'provider-failed': 403,
  'identity-taken': 409,
  'other-browser': 403,
  'already-completed': 409,
  'user-changed': 403,
  forged: 403,
  'too-many-requests': 429,
  'not-found': 404,
  home: 404,
  unavailable: 503,
  'sign-in-failed': 500,
  'server-error': 500,
}

/** Returns an error page without a link to the client, because no address is known to be safe (RFC 6749 §4.1.2.1). */
export function errorPage(problem: ErrorProblem): Reply {
  return { kind: 'page', status: STATUS[problem], page: { kind: 'error', problem } }
}
