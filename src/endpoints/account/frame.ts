import {
  ACCOUNT_NOTICES,
  type AccountFrame,
  type AccountNotice,
  type AccountPageName,
} from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { levelOf } from '../../protocol/sign-in/authentication.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { browserOf, isCrossSite } from '../authorization/interaction.ts'
import { findSignedIn, isForAnother, viewAccount, type SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { offersPasskeys } from '../sign-in/passkey/ceremony.ts'
import { accountAddresses, accountPath, PATHS, pageAddress } from '../paths.ts'

/** How long after signing in a user may do what another person at the open browser must not do. */
const RECENT_MS = 5 * 60 * 1000

/**
 * What a user may do so often in a window. Each has a count of its own: the holder of a stolen session could use up a common one, and the
 * owner could not change a stolen password (threats.md ACC-14). The last three are counted only after a recent sign-in.
 */
export type CountedChange = 'name' | 'sign-in-methods' | 'export' | 'email'
const CHANGE_LIMITS: Readonly<Record<CountedChange, number>> = {
  name: 30,
  'sign-in-methods': 30,
  export: 30,
  email: 5,
}
const WINDOW_MS = 60 * 60 * 1000

type Redirect = Extract<Reply, { readonly kind: 'redirect' }>

/** Returns the user of an account page, or the redirect to the sign-in page, which leads back to this page. */
export async function findOwner(
  context: Context,
  request: Request,
  page: AccountPageName,
): Promise<SignedIn | Redirect> {
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn !== undefined && !(await isForAnother(context, signedIn, 'account-pages'))) return signedIn
  return toSignIn(context, request, page)
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
  return count <= CHANGE_LIMITS[change]
}

/** As `findOwner`, for a page with a change that needs a recent sign-in: otherwise the user signs in again, and comes back to it. */
export async function findRecentOwner(
  context: Context,
  request: Request,
  page: AccountPageName,
): Promise<SignedIn | Reply> {
  const owner = await findOwner(context, request, page)
  if ('kind' in owner) return owner
  if (!isRecent(context, owner)) return toSignIn(context, request, page)
  return (await lacksPasskey(context, owner, page)) ? confirmPage(context, request, owner, page, true) : owner
}

/**
 * As `findSubmitter`, for a change that needs a recent sign-in: otherwise nothing is done, and the page leads by a link to the sign-in page.
 * A redirect could end at a provider, to which a form of this page must not lead (CSP `form-action`).
 */
export async function findRecentSubmitter(
  context: Context,
  request: Request,
  page: AccountPageName,
): Promise<SignedIn | Reply> {
  const owner = await findSubmitter(context, request, page)
  if ('kind' in owner) return owner
  if (!isRecent(context, owner)) return confirmPage(context, request, owner, page, false)
  return (await lacksPasskey(context, owner, page)) ? confirmPage(context, request, owner, page, true) : owner
}

function confirmPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  page: AccountPageName,
  isPasskeyNeeded: boolean,
): Reply {
  const frame = frameOf(context, request, owner)
  const confirmUri = signInAddress(context, request, page)
  return { kind: 'page', status: 200, page: { kind: 'account-confirm', frame, page, confirmUri, isPasskeyNeeded } }
}

/** The pages that add or remove a factor. An authenticator app is asked for at each sign-in, so its pages need no more. */
const FACTOR_PAGES: ReadonlySet<AccountPageName> = new Set(['add-passkey', 'remove-passkey', 'set-up-app'])

/**
 * Whether the user has a passkey and signed in without any second factor: who knows the password alone could otherwise add a factor of
 * their own, and meet with it what a scope requires (threats.md ACR-06).
 */
async function lacksPasskey(context: Context, { session, user }: SignedIn, page: AccountPageName): Promise<boolean> {
  if (!FACTOR_PAGES.has(page) || levelOf(session.authentication.methods) > 1 || !offersPasskeys(context)) return false
  return (await context.store.listPasskeys(user.id)).length > 0
}

/** Whether the user is known to have authenticated a moment ago. */
function isRecent({ clockCheck }: Pick<Context, 'clockCheck'>, { session }: SignedIn): boolean {
  return clockCheck.now() - (session.authentication.at ?? 0) <= RECENT_MS
}

/** The sign-in page is bound to the browser, as that of an authorization is. */
function toSignIn(context: Context, request: Request, page: AccountPageName): Redirect {
  const { cookies } = browserOf(context, request)
  return { kind: 'redirect', location: signInAddress(context, request, page), cookies }
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
    pages: accountAddresses(issuer, uiLocales),
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
): Redirect {
  return { kind: 'redirect', location: pageAddress(issuer, accountPath(page), { done, uiLocales }) }
}

/** The root, because the session is another one after the user has confirmed the own identity in another tab. */
function csrfParts({ session }: SignedIn): readonly string[] {
  return ['account', session.rootId]
}
