import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client enable` */
export function addClientEnable(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'enable',
    task: 'client.enable',
    subjects: [CLIENT],
    say: ({ client_id }) => [`${client_id} is enabled.`],
  })
}
