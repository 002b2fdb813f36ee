import type { Context } from '../../ports/context.ts'
import type { Cookies } from '../../ports/message.ts'
import type { SessionRecord, UserRecord } from '../../ports/records/user.ts'
import { isFromFuture } from '../../protocol/clock.ts'
import type { SessionId } from '../../protocol/ids.ts'
import { sameText } from '../../protocol/secrets.ts'
import { isLiveSince } from '../../principals/invalid-principal.ts'

/** Who is signed in in this browser. */
export interface SignedIn {
  readonly session: SessionRecord
  readonly user: UserRecord
}

type Needs = Pick<Context, 'clockCheck' | 'secrets' | 'notBefore'> & {
  readonly store: Pick<Context['store'], 'findSession' | 'findUser'>
}

/** undefined unless the cookie is ours, its session is alive, and since it began neither the user nor everybody began anew. */
export async function findSignedIn(context: Needs, cookies: Cookies): Promise<SignedIn | undefined> {
  const opened = cookies.session === undefined ? undefined : context.secrets.verify('session', cookies.session)
  if (opened === undefined) return undefined
  const session = await context.store.findSession(opened.id as SessionId)
  if (session === undefined || !sameText(session.hash, opened.hash)) return undefined
  const now = context.clockCheck.now()
  if (session.expiresAt <= now || isFromFuture(session.createdAt, now)) return undefined
  const [user, everybodyFrom] = await Promise.all([context.store.findUser(session.userId), context.notBefore()])
  return isLiveSince(user, session.createdAt) && session.createdAt >= everybodyFrom ? { session, user } : undefined
}
