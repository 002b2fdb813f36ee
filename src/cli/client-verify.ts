import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client verify` */
export function addClientVerify(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'verify',
    task: 'client.verify',
    subjects: [CLIENT],
    say: ({ client_id }) => [`${client_id} is verified. To undo that: grantor client unverify ${client_id}`],
  })
}
