import assert from 'node:assert/strict'
import type { OutcomeEvent } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import type { DeveloperNotes } from '../ports/pages/parts.ts'
import type { ErrorPage, ErrorProblem } from '../ports/pages/pages.ts'
import { PATHS, pageAddress } from './paths.ts'
import {
  FORM_REFUSALS,
  PAGE_REFUSALS,
  type FormReason,
  type PageReason,
} from '../protocol/authorization/page-refusals.ts'

const STATUS: Readonly<Record<ErrorProblem, number>> = {
  'client-unknown': 400,
  'client-unidentified': 400,
  'client-not-allowed': 403,
  'redirect-missing': 400,
  'redirect-unknown': 400,
  'redirect-not-allowed': 400,
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

/** What is known about a request that a page refuses. */
export type Known = Pick<OutcomeEvent, 'client' | 'user' | 'redirectUri'>

/** Each page is one object, so that the web layer renders it once. */
const PAGES: ReadonlyMap<PageReason, ErrorPage & { readonly notes: DeveloperNotes }> = new Map(
  Object.entries(PAGE_REFUSALS).flatMap(([problem, reasons]) =>
    Object.entries(reasons).map(([reason, explanation]) => [
      reason as PageReason,
      { kind: 'error', problem: problem as keyof typeof PAGE_REFUSALS, notes: { reason, explanation } },
    ]),
  ),
)

/** The page at the address of the issuer, which explains the server, and leads users to their account. */
export function homePage(issuer: string): Reply {
  const accountUri = pageAddress(issuer, PATHS.account, { uiLocales: undefined })
  return { kind: 'page', status: STATUS.home, page: { kind: 'error', problem: 'home', notes: undefined, accountUri } }
}

/** Returns an error page without a link to the client, because no address is known to be safe (RFC 6749 §4.1.2.1). */
export function errorPage(
  reason: PageReason,
  known: Known = NOTHING,
): Extract<Reply, { readonly kind: 'page' }> & { readonly page: ErrorPage } {
  const page = PAGES.get(reason)
  assert(page, 'Every reason of the table has a page.')
  const { redirectUri } = known
  return {
    kind: 'page',
    status: STATUS[page.problem],
    page: redirectUri === undefined ? page : { ...page, notes: { ...page.notes, redirectUri } },
    event: { event: 'request.refused', reason, description: page.notes.explanation, ...known },
  }
}

/** The event of a page that is shown again with a message beside its form. */
export function formRefusal(reason: FormReason, known: Known): OutcomeEvent {
  return { event: 'request.refused', reason, description: FORM_REFUSALS[reason], ...known }
}

const NOTHING: Known = {}
