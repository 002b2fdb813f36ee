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

/** The account is disabled, or it was disabled or deleted or its password changed while the method authenticated the user. */
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
  if (authenticated.user.disabledAt !== undefined) return { kind: 'refused', reason: 'disabled' }
  const started = await startSession(context, request, target, authenticated)
  if (started === undefined) return { kind: 'refused', reason: 'changed' }
  return continueWith(context, target, started.signedIn, { session: started.credential })
}

/** Returns undefined if the account has changed since the user authenticated, possibly on another node. */
async function startSession(
  context: Context,
  request: Request,
  { browserHash }: SignInTarget,
  { user, methods, providerId }: AuthenticatedUser,
): Promise<{ readonly signedIn: SignedIn; readonly credential: MintedCredential } | undefined> {
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
  const { passwordHash } = user
  const started = await context.store.startSession({ session, browserHash, replaces, passwordHash })
  if (started.kind === 'user-changed') return undefined
  // The cookie of the previous session is overwritten, so its user could not sign out of it any more.
  if (previous !== undefined && !isSameUser) await context.store.endSession(endOf(previous))
  return { signedIn: { session: { ...session, rootId: started.rootId }, user }, credential }
}
