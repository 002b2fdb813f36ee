import type { Context } from '../../ports/context.ts'
import type { Cookies } from '../../ports/message.ts'
import type { Input } from '../../ports/operations/index.ts'
import type { AccountView } from '../../ports/pages/parts.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { SessionRecord, UserRecord } from '../../ports/records/user.ts'
import { APPLICATION, levelOf } from '../../protocol/sign-in/authentication.ts'
import { after } from '../../base/brand.ts'
import { isFromFuture } from '../../base/clock.ts'
import { interactionOfSession, parseAuthorizationId, type SessionId } from '../../protocol/ids.ts'
import { sameText } from '../../protocol/secrets.ts'
import { isLiveSession } from '../../tokens/invalid-principal.ts'
import { revocationCutoff } from '../../tokens/revocation-cutoff.ts'
import { openCookie } from './cookie.ts'

/** A session's `seenAt` is not newer than this when it is recorded again. */
const SEEN_MS = 5 * 60 * 1000

/** The session of this browser, and its user. */
export interface SignedIn {
  readonly session: SessionRecord
  readonly user: UserRecord
}

/**
 * Finds the session of the browser. Returns undefined unless the cookie is authentic, the session has not expired, its user is
 * enabled, and the session started after the user's and the server's not-before time. Where every sign-in needs two factors, a session
 * from before that had one does not count (threats.md OTP-03).
 */
export async function findSignedIn(context: Context, cookies: Cookies): Promise<SignedIn | undefined> {
  const found = await findReplaceable(context, cookies)
  const isTooWeak =
    context.settings.secondFactor === 'required' && levelOf(found?.session.authentication.methods ?? []) === 1
  return isTooWeak ? undefined : found
}

/** Finds the same session, whatever its level. A sign-in in the browser ends it. */
export async function findReplaceable(context: Context, cookies: Cookies): Promise<SignedIn | undefined> {
  const session = await findHeld(context, cookies)
  if (session === undefined) return undefined
  const now = context.clockCheck.now()
  if (isFromFuture(session.createdAt, now)) return undefined
  const [user, serverNotBefore] = await Promise.all([context.store.findUser(session.userId), context.notBefore()])
  if (!isLiveSession(session, user, { now, serverNotBefore })) return undefined
  if (now - session.seenAt >= SEEN_MS) context.sessionSeen(session.id, now)
  return { session, user }
}

/**
 * Finds the session of the browser for a sign-out, whatever its times: a session that a clock started ahead of time would be valid later,
 * and a sign-out works by any clock (decision 0012).
 */
export async function findToEnd(context: Context, cookies: Cookies): Promise<SignedIn | undefined> {
  const session = await findHeld(context, cookies)
  const user = session === undefined ? undefined : await context.store.findUser(session.userId)
  return session === undefined || user === undefined ? undefined : { session, user }
}

/** Finds the session of the cookie, if the cookie is authentic. */
async function findHeld({ secrets, store }: Context, cookies: Cookies): Promise<SessionRecord | undefined> {
  const opened = openCookie({ secrets }, cookies, 'session')
  if (opened === undefined) return undefined
  const session = await store.findSession(opened.id as SessionId)
  return session !== undefined && sameText(session.hash, opened.hash) ? session : undefined
}

/**
 * Whether the session followed from an answer of the operator's application to another request, and the application did not say that
 * the browser stays signed in: then it is asked again, because the person may have signed out there. A session that is newer than an
 * authorization counts for it, because a person may answer the requests of two tabs in any order.
 */
export async function isForAnother(
  { clockCheck, store }: Context,
  { session }: SignedIn,
  target: Pick<AuthorizationRecord, 'id' | 'createdAt'> | 'account-pages',
): Promise<boolean> {
  if (session.authentication.providerId !== APPLICATION) return false
  if (target !== 'account-pages' && session.createdAt > target.createdAt) return false
  const interaction = await store.findInteraction(interactionOfSession(session.id))
  // A session that is not remembered ends no later than its interaction, so it is not found without it.
  if (interaction?.answer?.kind !== 'accepted') return false
  if (clockCheck.now() < after(session.createdAt, interaction.answer.rememberSeconds * 1000)) return false
  const answered = parseAuthorizationId(interaction.target)
  return target === 'account-pages' ? answered !== undefined : answered !== target.id
}

/** The input of the operation that ends a session of the user. */
export function endOf(context: Context, { session, user }: SignedIn): Input<'endSession'> {
  return { id: session.id, about: { userId: user.id }, ...revocationCutoff(context) }
}

/** Returns the account as pages name it. */
export function viewAccount({ id, email, name }: UserRecord): AccountView {
  return {
    name: name ?? email ?? id,
    detail: name === undefined ? undefined : email,
    isWithoutEmail: email === undefined,
  }
}

/** How long after signing in a user may do what another person at the open browser must not do. */
const RECENT_MS = 5 * 60 * 1000

/** Whether the user is known to have authenticated a moment ago. */
export function isRecent({ clockCheck }: Context, { session }: SignedIn): boolean {
  return clockCheck.now() - (session.authentication.at ?? 0) <= RECENT_MS
}
