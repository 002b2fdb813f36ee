import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { Authentication } from '../../protocol/authentication.ts'
import { after } from '../../protocol/brand.ts'
import { mintSessionId } from '../../protocol/ids.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import { endOf, findSignedIn, type SignedIn } from '../authorization/session.ts'
import { continueWith, type SignInTarget } from './target.ts'

/** A user whom a sign-in method has authenticated just now, as the method read the record. */
export interface AuthenticatedUser extends Omit<Authentication, 'at'> {
  readonly user: UserRecord
}

/** The account was disabled, or it was deleted or its password changed while the method authenticated the user. */
export interface RefusedSignIn {
  readonly kind: 'refused'
  readonly reason: 'disabled' | 'changed'
}

/**
 * Starts the session of a user whom a sign-in method has authenticated, and continues with what the user signed in for. No other
 * function starts sessions, so no method can skip what is checked here.
 *
 * Each sign-in has a new session, and the previous session of the browser ends, so an earlier cookie is useless (threats.md
 * UI-05). The method shows the same page for every reason of a refusal.
 */
export async function finishSignIn(
  context: Context,
  request: Request,
  target: SignInTarget,
  authenticated: AuthenticatedUser,
): Promise<Reply | RefusedSignIn> {
  const { user, methods, providerId } = authenticated
  const now = await context.store.findUser(user.id)
  if (now?.disabledAt !== undefined) return { kind: 'refused', reason: 'disabled' }
  if (now === undefined || now.passwordHash !== user.passwordHash) return { kind: 'refused', reason: 'changed' }
  const { signedIn, credential } = await startSession(context, request, target, { user: now, methods, providerId })
  return continueWith(context, target, signedIn, { session: credential })
}

async function startSession(
  context: Context,
  request: Request,
  { browserHash }: SignInTarget,
  { user, methods, providerId }: AuthenticatedUser,
): Promise<{ readonly signedIn: SignedIn; readonly credential: MintedCredential }> {
  const previous = await findSignedIn(context, request.cookies)
  const now = context.clockCheck.now()
  const id = mintSessionId(now, context.random)
  const credential = context.secrets.mint('session', id, context.random)
  const session = {
    id,
    hash: credential.hash,
    userId: user.id,
    authentication: { methods, at: now, providerId },
    agent: request.agent,
    network: request.network,
    seenAt: now,
    createdAt: now,
    expiresAt: after(now, context.settings.lifetimes.session * 1000),
  }
  const isSameUser = previous?.user.id === user.id
  const replaces = isSameUser ? previous.session.id : undefined
  const [{ rootId }] = await Promise.all([
    context.store.startSession({ session, browserHash, replaces }),
    // The cookie of the previous session is overwritten, so its user could not sign out of it any more.
    previous === undefined || isSameUser ? undefined : context.store.endSession(endOf(previous)),
  ])
  return { signedIn: { session: { ...session, rootId }, user }, credential }
}
