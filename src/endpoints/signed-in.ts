import type { Context } from '../ports/context.ts'
import type { Cookies } from '../ports/message.ts'
import type { SessionRecord, UserRecord } from '../ports/records.ts'
import type { SessionId } from '../protocol/ids.ts'
import { sameText } from '../protocol/secrets.ts'
import { isLiveUser } from './grants/grant.ts'

/** Who is signed in in this browser. */
export interface SignedIn {
  readonly session: SessionRecord
  readonly user: UserRecord
}

type Needs = Pick<Context, 'clock' | 'secrets'> & { readonly store: Pick<Context['store'], 'findSession' | 'findUser'> }

/** undefined unless the cookie is ours, its session is alive, and so is the user since it began. */
export async function findSignedIn(context: Needs, cookies: Cookies): Promise<SignedIn | undefined> {
  const opened = cookies.session === undefined ? undefined : context.secrets.open('session', cookies.session)
  if (opened === undefined) return undefined
  const session = await context.store.findSession(opened.id as SessionId)
  if (session === undefined || !sameText(session.hash, opened.hash) || session.expiresAt <= context.clock())
    return undefined
  const user = await context.store.findUser(session.userId)
  return isLiveUser(user, session.createdAt) ? { session, user } : undefined
}
