import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { errorPage } from '../error-page.ts'
import { isCrossSite } from './interaction.ts'
import { addressOf, PATHS } from '../paths.ts'
import { endOf, findSignedIn, viewAccount, type SignedIn } from './session.ts'

/** Shows a page that asks for confirmation: a link on another site must not sign the user out (threats.md UI-15). */
export async function showSignOut(context: Context, request: Request): Promise<Reply> {
  const signedIn = await findSignedIn(context, request.cookies)
  const csrf = signedIn === undefined ? '' : context.secrets.digest('csrf', csrfParts(signedIn))
  const account = signedIn === undefined ? undefined : viewAccount(signedIn.user)
  const page = { kind: 'sign-out', action: addressOf(context.issuer, PATHS.signOut), csrf, account } as const
  const { delegate } = context.settings
  const target = delegate?.signOutUrl === undefined ? {} : { formTarget: new URL(delegate.signOutUrl).origin }
  return { kind: 'page', status: 200, page, ...target }
}

/** Ends the session in the store and removes its cookie. The tokens of clients remain valid. */
export async function signOut(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('forged')
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn !== undefined) {
    const csrf = request.params.get('csrf') ?? ''
    if (!context.secrets.digestMatches('csrf', csrfParts(signedIn), csrf)) return errorPage('forged')
    await context.store.endSession(endOf(signedIn))
  }
  const ended = { cookies: { session: 'end' }, event: { event: 'session.ended' } } as const
  const location = context.settings.delegate?.signOutUrl
  if (location !== undefined) return { kind: 'redirect', location, ...ended }
  return { kind: 'page', status: 200, page: { kind: 'signed-out' }, ...ended }
}

function csrfParts({ session }: SignedIn): readonly string[] {
  return ['sign-out', session.id]
}
