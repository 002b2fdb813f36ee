import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client revoke-tokens` */
export function addClientExpire(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument>(parent, terminal, {
    verb: 'revoke-tokens',
    task: 'client.revoke-tokens',
    subjects: [CLIENT],
    say: ({ client_id }) => [`All tokens of ${client_id} are revoked. It can request new ones.`],
  })
}
