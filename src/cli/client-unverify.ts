import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client unverify` */
export function addClientUnverify(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'unverify',
    task: 'client.unverify',
    subjects: [CLIENT],
    say: ({ client_id }) => [`${client_id} is not verified any more.`],
  })
}
