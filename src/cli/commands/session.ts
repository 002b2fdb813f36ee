import type { SessionDocument } from '../../admin/session.ts'
import { formatTime, nameOf } from '../lib/columns.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor session`. */
export const SESSION_VERBS: readonly AddVerb[] = [
  listVerb<SessionDocument>({
    task: 'session.list',
    rows: 'sessions',
    headings: ['ID', 'USER', 'BROWSER', 'BY', 'NETWORK', 'STARTED (UTC)', 'SEEN (UTC)', 'EXPIRES (UTC)'],
    cells: (session, names) => [
      [
        session.session_id,
        nameOf(names, session.user_id),
        agentOf(session),
        [...session.methods, session.provider_id ?? []].flat().join(' '),
        session.network ?? '–',
        formatTime(session.started_at),
        formatTime(session.seen_at),
        formatTime(session.expires_at),
      ],
    ],
    empty: 'No user is signed in, or none that matches.',
  }),
  taskVerb<SessionDocument>({
    task: 'session.end',
    adds: (session) => [`It was of ${session.user_id} (${agentOf(session)}).`],
  }),
]

function agentOf({ browser, system }: SessionDocument): string {
  if (browser === null) return 'unknown browser'
  return system === null ? browser : `${browser} on ${system}`
}
