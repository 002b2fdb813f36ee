import {
  ACCOUNT_NOTICES,
  ACCOUNT_PAGES,
  type AccountFrame,
  type AccountNotice,
  type AccountPageName,
} from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { browserOf, isCrossSite } from '../authorization/interaction.ts'
import { findSignedIn, isForAnother, viewAccount, type SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { accountPath, PATHS, pageAddress } from '../paths.ts'

/** How long after signing in a user may do what another person at the open browser must not do. */
const RECENT_MS = 5 * 60 * 1000

/**
 * What a user may do so often in a window. Each has a count of its own: the holder of a stolen session could use up a common one, and the
 * owner could not change a stolen password (threats.md ACC-14). The last two are counted only after a recent sign-in.
 */
export type CountedChange = 'name' | 'sign-in-methods' | 'export'
const CHANGE_LIMIT = 30
const WINDOW_MS = 60 * 60 * 1000

/** Returns the user of an account page, or the redirect to the sign-in page, which leads back to this page. */
export async function findOwner(
  context: Context,
  request: Request,
  page: AccountPageName,
): Promise<SignedIn | Extract<Reply, { readonly kind: 'redirect' }>> {
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn !== undefined && !(await isForAnother(context, signedIn, 'account-pages'))) return signedIn
  // The sign-in page is bound to the browser, as that of an authorization is.
  const { cookies } = browserOf(context, request)
  return { kind: 'redirect', location: signInAddress(context, request, page), cookies }
}

/**
 * Returns the user who submitted the form of an account page. Returns an error page if another site's page did, or the page was
 * shown to another user; a user who is signed out meanwhile signs in again, and nothing is done.
 */
export async function findSubmitter(
  context: Context,
  request: Request,
  page: AccountPageName,
): Promise<SignedIn | Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const owner = await findOwner(context, request, page)
  if ('kind' in owner) return owner
  const csrf = request.params.get('csrf') ?? ''
  return context.secrets.digestMatches('csrf', csrfParts(owner), csrf)
    ? owner
    : errorPage('form_token_wrong', { user: owner.user.id })
}

/** Counts a change or an export of the user. Each hashes a password, writes to the audit or reads much (docs/limits.md). */
export async function isWithinLimit(
  { clock, secrets, store }: Pick<Context, 'clock' | 'secrets' | 'store'>,
  { user }: SignedIn,
  change: CountedChange,
): Promise<boolean> {
  const bucket = secrets.digest('bucket', ['account', change, user.id])
  const { count } = await store.countHit({ bucket, now: clock(), windowMs: WINDOW_MS, by: 1 })
  return count <= CHANGE_LIMIT
}

/** Whether the user is known to have authenticated a moment ago. */
export function isRecent({ clockCheck }: Pick<Context, 'clockCheck'>, { session }: SignedIn): boolean {
  return clockCheck.now() - (session.authentication.at ?? 0) <= RECENT_MS
}

/** Where a user confirms the own identity before a change; undefined: the user signed in a moment ago. */
export function confirmAddress(
  context: Pick<Context, 'clockCheck' | 'issuer'>,
  request: Request,
  signedIn: SignedIn,
  page: AccountPageName,
): string | undefined {
  return isRecent(context, signedIn) ? undefined : signInAddress(context, request, page)
}

function signInAddress({ issuer }: Pick<Context, 'issuer'>, { uiLocales }: Request, page: AccountPageName): string {
  return pageAddress(issuer, PATHS.signIn, { page, uiLocales })
}

/** What the page has around its content. */
export function frameOf(context: Context, request: Request, signedIn: SignedIn): AccountFrame {
  const { issuer, secrets } = context
  const { uiLocales } = request
  // Another site must not make this page say that something was done.
  const done = isCrossSite(request) ? undefined : request.query.get('done')
  return {
    account: viewAccount(signedIn.user),
    pages: Object.fromEntries(
      ACCOUNT_PAGES.map((page) => [page, pageAddress(issuer, accountPath(page), { uiLocales })]),
    ) as AccountFrame['pages'],
    signOutUri: addressOf(issuer, PATHS.signOut),
    csrf: secrets.digest('csrf', csrfParts(signedIn)),
    notice: ACCOUNT_NOTICES.find((notice) => notice === done),
  }
}

/** Shows the page again after its form was carried out, so that reloading the page does not repeat the form. */
export function doneAt(
  { issuer }: Pick<Context, 'issuer'>,
  { uiLocales }: Request,
  page: AccountPageName,
  done: AccountNotice | undefined,
): Extract<Reply, { readonly kind: 'redirect' }> {
  return { kind: 'redirect', location: pageAddress(issuer, accountPath(page), { done, uiLocales }) }
}

/** The root, because the session is another one after the user has confirmed the own identity in another tab. */
function csrfParts({ session }: SignedIn): readonly string[] {
  return ['account', session.rootId]
}
