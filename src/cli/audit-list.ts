import type { Command } from 'commander'
import type { AuditEntryDocument } from '../admin/audit-tasks.ts'
import { parseMoment } from './parse-options.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly event?: string
  readonly client?: string
  readonly user?: string
  readonly organization?: string
  readonly since?: string
}

/** `grantor audit list` */
export function addAuditList(parent: Command, terminal: Terminal): void {
  addListVerb<AuditEntryDocument, Options>(parent, terminal, {
    task: 'audit.list',
    options: (command) =>
      command
        .option('--event <word>', 'only this event, or all that begin with a word and a dot: client.')
        .option('--client <id>', 'only events of this client')
        .option('--user <id>', 'only events of this user')
        .option('--organization <id>', 'only events of this one')
        .option('--since <moment>', 'only events from then on: 2026-11-20, 2026-11-20T14:02:00Z', parseMoment),
    input: ({ event, client, user, organization, since }) => ({
      event,
      client_id: client,
      user_id: user,
      organization_id: organization,
      since,
    }),
    rows: 'events',
    headings: ['RECORDED (UTC)', 'EVENT', 'BY', 'ABOUT'],
    cells: (entry) => [cellsOf(entry)],
    empty: 'There is nothing of that in the audit.',
  })
}

function cellsOf({ recorded_at, event, actor, details, ...entry }: AuditEntryDocument): readonly string[] {
  const { client_id, user_id, organization_id, grant_id } = entry
  const named = Object.entries(details).map(([name, value]) => `${name}=${value}`)
  const about = [client_id, user_id, organization_id, grant_id, ...named].filter((one) => one !== null)
  return [recorded_at.slice(0, 19).replace('T', ' '), event, actor ?? '–', about.join(' ')]
}
