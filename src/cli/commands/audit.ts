import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import type { Names } from '../../admin/names.ts'
import { nameOf } from '../lib/columns.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The exit code when a link was changed or removed, although the command itself did not fail. */
const FAULTY = 3

interface Report {
  readonly chains: number
  readonly links: number
  readonly events: number
  readonly faults: readonly { readonly what: string }[]
}

/** How events are listed. */
export const EVENT_ROWS = {
  rows: 'events',
  headings: ['RECORDED (UTC)', 'EVENT', 'BY', 'ABOUT'],
  cells: (entry: AuditEntryDocument, names: Names) => [cellsOf(entry, names)],
  empty: 'No matching audit events.',
} as const

/** The verbs of `grantor audit`. */
export const AUDIT_VERBS: readonly AddVerb[] = [
  listVerb<AuditEntryDocument>({ ...EVENT_ROWS, task: 'audit.list', members: { request_id: 'request' } }),
  taskVerb<Report>({
    task: 'audit.verify',
    members: { head: { placeholder: 'chain:sequence' } },
    options: (command) => command.addHelpText('after', `\nExit code ${FAULTY}: something was changed or removed.`),
    say: ({ chains, links, events, faults }) => [
      `${events} events in ${links} links of ${chains} chains. ${faults.length === 0 ? 'Nothing was changed or removed.' : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`}`,
      ...faults.map(({ what }) => `  ${what}`),
    ],
    exitCode: ({ faults }) => (faults.length === 0 ? 0 : FAULTY),
  }),
]

/** The ids and the details of an event, each after its name. */
function cellsOf(entry: AuditEntryDocument, names: Names): readonly string[] {
  const { recorded_at, event, actor, details, client_id, user_id, organization_id, grant_id, request_id } = entry
  const ids = { user: user_id, client: client_id, organization: organization_id, grant: grant_id }
  const about = [
    ...Object.entries(ids).flatMap(([word, id]) => (id === null ? [] : [`${word} ${nameOf(names, id)}`])),
    ...Object.entries(details).map(([name, value]) => `${name}=${isTime(name, value) ? toSecond(value) : value}`),
    ...(request_id === null ? [] : [`request ${request_id}`]),
  ]
  return [toSecond(recorded_at), event, nameOf(names, actor), about.join(', ')]
}

/** Details that are times, in milliseconds since the epoch. */
const TIMES: ReadonlySet<string> = new Set(['before', 'clock', 'minute', 'recorded_at'])

function isTime(name: string, value: unknown): value is number {
  return TIMES.has(name) && typeof value === 'number'
}

/** `2026-11-20 14:02:07`, in UTC. */
function toSecond(time: number | string): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}
