import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor client delete` */
export function addClientDelete(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly client_id: string }>(parent, terminal, {
    verb: 'delete',
    task: 'client.delete',
    subjects: [CLIENT],
    say: ({ client_id }) => [`Deleted ${client_id}.`],
  })
}
