import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client disable` */
export function addClientDisable(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'disable',
    task: 'client.disable',
    subjects: [CLIENT],
    say: ({ client_id }) => [`${client_id} is disabled. To undo that: grantor client enable ${client_id}`],
  })
}
