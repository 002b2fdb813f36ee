import {
  ACCOUNT_NOTICES,
  type AccountFrame,
  type AccountNotice,
  type AccountPageName,
} from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { UserId } from '../../protocol/ids.ts'
import { tooManyChanges } from '../../protocol/errors.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { consoleOf, hasRole } from '../../users/role.ts'
import { isCrossSite } from '../authorization/interaction.ts'
import { viewAccount, type SignedIn } from '../authorization/session.ts'
import { accountAddresses, accountPath, PATHS, pageAddress } from '../paths.ts'

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

/**
 * Counts a change or an export of the user. Each hashes a password, writes to the audit or reads much (docs/faults.md).
 *
 * @throws OAuthError temporarily_unavailable, with 429, if there are too many
 */
export async function countChange(
  { clock, secrets, store }: Context,
  { user }: SignedIn,
  change: CountedChange,
): Promise<void> {
  const now = clock()
  const bucket = secrets.digest('bucket', ['account', change, user.id])
  const { count, windowEndsAt } = await store.countHit({ bucket, now, windowMs: WINDOW_MS, by: 1 })
  const limit = CHANGE_LIMITS[change]
  if (count > limit)
    throw tooManyChanges(user.id, `${change}: ${limit} an hour`, Math.ceil((windowEndsAt - now) / 1000))
}

/** What the page has around its content. */
export async function frameOf(context: Context, request: Request, signedIn: SignedIn): Promise<AccountFrame> {
  const { issuer, secrets } = context
  const { uiLocales } = request
  // Another site must not make this page say that something was done.
  const done = isCrossSite(request) ? undefined : request.query.get('done')
  return {
    account: viewAccount(signedIn.user),
    pages: accountAddresses(issuer, uiLocales),
    consoleUri: await findConsole(context, signedIn.user.id),
    signOutUri: addressOf(issuer, PATHS.signOut),
    csrf: secrets.digest('csrf', csrfParts(signedIn)),
    notice: ACCOUNT_NOTICES.find((notice) => notice === done),
  }
}

/** Where the console is, for a user with a role. Other people do not learn that there is one (threats.md CON-01). */
export async function findConsole(context: Context, id: UserId): Promise<string | undefined> {
  const uri = consoleOf(context)
  return uri !== undefined && (await hasRole(context, id)) ? uri : undefined
}

/** Shows the page again after its form was carried out, so that reloading the page does not repeat the form. */
export function doneAt(
  { issuer }: Context,
  { uiLocales }: Request,
  page: AccountPageName,
  done: AccountNotice | undefined,
): Extract<Reply, { readonly kind: 'redirect' }> {
  return { kind: 'redirect', location: pageAddress(issuer, accountPath(page), { done, uiLocales }) }
}

/** What the token of a form is made of. The root, because the session is another one after the user has confirmed the own identity in another tab. */
export function csrfParts({ session }: SignedIn): readonly string[] {
  return ['account', session.rootId]
}
