import type { AccountPageName } from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { levelOf } from '../../protocol/sign-in/authentication.ts'
import { browserOf, isCrossSite } from '../authorization/interaction.ts'
import { findSignedIn, isForAnother, type SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { offersPasskeys } from '../sign-in/passkey/ceremony.ts'
import { csrfParts, frameOf } from './frame.ts'

/** How long after signing in a user may do what another person at the open browser must not do. */
const RECENT_MS = 5 * 60 * 1000

/**
 * What a page asks of the session of its user.
 *
 * - `session`: nothing more.
 * - `recent-form`: its form needs a recent sign-in.
 * - `change`: the page and its form need one.
 */
export type PageRule = 'session' | 'recent-form' | 'change'

/** A page, and its rule. */
interface RuledPage {
  readonly page: AccountPageName
  readonly rule: PageRule
}

/** Returns the user to whom a page is shown, or the redirect to the sign-in page, which leads back to this page. */
export async function admitOwner(
  context: Context,
  request: Request,
  { page, rule }: RuledPage,
): Promise<SignedIn | Reply> {
  const owner = await findOwner(context, request, page)
  if ('kind' in owner || rule !== 'change') return owner
  if (!isRecent(context, owner)) return toSignIn(context, request, page)
  return (await lacksPasskey(context, owner, page)) ? confirmPage(context, request, owner, page, true) : owner
}

/**
 * Returns the user who submitted the form of a page. Returns an error page if another site's page did, or the page was shown to another
 * user; a user who is signed out meanwhile signs in again, and nothing is done. Where a change needs a recent sign-in, the page leads to
 * the sign-in page by a link: a redirect could end at a provider, to which a form of this page must not lead (CSP `form-action`).
 */
export async function admitSubmitter(
  context: Context,
  request: Request,
  { page, rule }: RuledPage,
): Promise<SignedIn | Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const owner = await findOwner(context, request, page)
  if ('kind' in owner) return owner
  const csrf = request.params.get('csrf') ?? ''
  if (!context.secrets.digestMatches('csrf', csrfParts(owner), csrf))
    return errorPage('form_token_wrong', { user: owner.user.id })
  if (rule === 'session') return owner
  if (!isRecent(context, owner)) return confirmPage(context, request, owner, page, false)
  return (await lacksPasskey(context, owner, page)) ? confirmPage(context, request, owner, page, true) : owner
}

async function findOwner(context: Context, request: Request, page: AccountPageName): Promise<SignedIn | Reply> {
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn !== undefined && !(await isForAnother(context, signedIn, 'account-pages'))) return signedIn
  return toSignIn(context, request, page)
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
function toSignIn(context: Context, request: Request, page: AccountPageName): Reply {
  const { cookies } = browserOf(context, request)
  return { kind: 'redirect', location: signInAddress(context, request, page), cookies }
}

function signInAddress({ issuer }: Pick<Context, 'issuer'>, { uiLocales }: Request, page: AccountPageName): string {
  return pageAddress(issuer, PATHS.signIn, { page, uiLocales })
}
