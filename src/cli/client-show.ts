import type { Command } from 'commander'
import { record } from './columns.ts'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client show` */
export function addClientShow(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'show',
    task: 'client.show',
    subjects: [CLIENT],
    say: ({ client_id, client_id_issued_at: seconds, ...client }, { paint }) =>
      record({ client_id, client_id_issued_at: new Date(seconds * 1000).toISOString(), ...client }, paint),
  })
}
