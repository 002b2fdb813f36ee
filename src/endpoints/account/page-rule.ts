import type { AccountPageName } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { findFactorNeed } from '../../users/factors.ts'
import { browserOf, isCrossSite } from '../authorization/interaction.ts'
import { findSignedIn, isForAnother, isRecent, type SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { findUncovered, knowsPassword } from '../sign-in/changing-session.ts'
import { csrfParts, frameOf } from './frame.ts'

/**
 * What a page asks of the session of its user. Each page that changes how its user signs in asks for the second factors of the account
 * (threats.md ACR-06), and so does the operation of the store that makes the change.
 *
 * - `session`: nothing more.
 * - `recent-form`: its form needs a recent sign-in.
 * - `change`: it needs a recent sign-in, with the second factors of the account.
 * - `password`: the same, but for a user who signed in with the password that the form replaces.
 * - `completion`: it needs the second factors, and no recent sign-in, because a page with the rule `change` has led to it.
 */
export type PageRule = 'session' | 'recent-form' | 'change' | 'password' | 'completion'

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
  if ('kind' in owner) return owner
  const lack = rule === 'recent-form' ? undefined : await findLack(context, owner, rule)
  switch (lack) {
    case undefined:
      return owner
    case 'passkey':
    case 'identity':
      return confirmPage(context, request, owner, page, lack)
    case 'sign-in':
      return toSignIn(context, request, page)
  }
}

/**
 * Returns the user who submitted the form of a page. Returns an error page if another site's page did, or the page was shown to another
 * user; a user who is signed out meanwhile signs in again, and nothing is done. Where a change needs another sign-in, the page leads to
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
  const lack = await findLack(context, owner, rule)
  return lack === undefined ? owner : confirmPage(context, request, owner, page, lack)
}

/** How the user has to sign in before the page: in any way, or with a passkey or an account at a provider. undefined: the user need not. */
type Lack = 'sign-in' | 'passkey' | 'identity'

async function findLack(context: Context, owner: SignedIn, rule: PageRule): Promise<Lack | undefined> {
  if (rule === 'session') return undefined
  if (rule !== 'completion' && !isRecent(context, owner)) return 'sign-in'
  if (rule === 'recent-form' || (rule === 'password' && knowsPassword(owner))) return undefined
  const uncovered = await findUncovered(context, owner)
  // The sign-in page asks for a code after the password, and offers a passkey beside it.
  return uncovered === 'app' ? 'sign-in' : uncovered
}

async function findOwner(context: Context, request: Request, page: AccountPageName): Promise<SignedIn | Reply> {
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn !== undefined && !(await isForAnother(context, signedIn, 'account-pages'))) return signedIn
  return toSignIn(context, request, page)
}

async function confirmPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  page: AccountPageName,
  lack: Lack,
): Promise<Reply> {
  const frame = await frameOf(context, request, owner)
  const confirmUri = signInAddress(context, request, page)
  const isReplaceable = context.mail !== undefined && (await findFactorNeed(context, owner.user)) === 'never'
  return {
    kind: 'page',
    status: 200,
    page: { kind: 'account-confirm', frame, page, confirmUri, lack, isReplaceable },
  }
}

/** The sign-in page is bound to the browser, as that of an authorization is. */
function toSignIn(context: Context, request: Request, page: AccountPageName): Reply {
  const { cookies } = browserOf(context, request)
  return { kind: 'redirect', location: signInAddress(context, request, page), cookies }
}

function signInAddress({ issuer }: Context, { uiLocales }: Request, page: AccountPageName): string {
  return pageAddress(issuer, PATHS.signIn, { page, uiLocales })
}
