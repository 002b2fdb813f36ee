import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { SessionRecord } from '../ports/records/user.ts'
import { isLiveSession } from '../tokens/invalid-principal.ts'
import { revocationCutoff } from '../tokens/revocation-cutoff.ts'
import type { SessionId } from '../protocol/ids.ts'
import { unknown, type AdminError } from './admin-error.ts'
import { SESSION } from '../answers/session.ts'
import { LIMIT, NEXT, pageStart, SESSION_ID, USER_ID } from './fields.ts'
import { findNames, NAMES } from './names.ts'
import { listPage } from './page.ts'
import { defineTask, type Task } from './task.ts'

const PATH = '/admin/v1/sessions'

const SESSION_DOCUMENT = z.object(SESSION.shape).meta({ id: 'Session' })

export type SessionDocument = z.output<typeof SESSION_DOCUMENT>

export const SESSION_TASKS: readonly Task[] = [
  defineTask({
    name: 'session.list',
    method: 'GET',
    path: PATH,
    access: 'read-people',
    summary:
      'List the browsers in which users are signed in, newest first. A page may have fewer rows than its limit even if more rows follow.',
    input: z.object({ limit: LIMIT, before: pageStart(SESSION_ID), user_id: USER_ID.optional() }),
    output: z.object({ sessions: z.array(SESSION_DOCUMENT), names: NAMES, next: NEXT }),
    async run(context, { user_id: userId, ...page }) {
      const { rows: stored, next } = await listPage<SessionRecord, SessionId>(
        (slice) => context.store.listSessions({ ...slice, userId }),
        page,
      )
      const times = { now: context.clock(), serverNotBefore: await context.notBefore() }
      const users = await Promise.all(stored.map((session) => context.store.findUser(session.userId)))
      const rows = stored.filter((session, index) => isLiveSession(session, users[index], times))
      const names = await findNames(context, { users: rows.map((session) => session.userId) })
      return { sessions: rows.map(SESSION.show), names, next }
    },
  }),
  defineTask({
    name: 'session.end',
    method: 'POST',
    path: `${PATH}/{session_id}/end`,
    access: 'support',
    touches: 'account',
    anyClock: true,
    summary:
      'Sign a user out of one browser, and of the apps that signed the user in there. Other tokens keep working.',
    input: z.object({ session_id: SESSION_ID }),
    output: SESSION_DOCUMENT,
    run: async (context, { session_id }) => SESSION.show(await endSession(context, session_id)),
  }),
]

/** Ends a session. @throws AdminError when there is no such session */
async function endSession(context: Context, id: SessionId): Promise<SessionRecord> {
  const { store } = context
  const session = await store.findSession(id)
  if (session === undefined) throw noSuchSession(id)
  const { userId } = session
  if ((await store.endSession({ id, about: { userId }, ...revocationCutoff(context) })) === 'unknown')
    throw noSuchSession(id)
  return session
}

function noSuchSession(id: SessionId): AdminError {
  return unknown(`There is no session ${id}. See "grantor session list".`)
}
