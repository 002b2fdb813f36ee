import type { Command } from 'commander'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

/** `grantor client approve-scopes` */
export function addClientApproveScopes(parent: Command, terminal: Terminal): void {
  addTaskVerb<ClientDocument, { readonly scope: string }>(parent, terminal, {
    verb: 'approve-scopes',
    task: 'client.approve-scopes',
    subjects: [CLIENT],
    options: (command) =>
      command.requiredOption('--scope <scopes>', "all of them, with a space between: 'payments refunds'; '' for none"),
    input: ({ scope }) => ({ scope }),
    say: ({ client_id, approved_scope: scope }) => [
      scope === ''
        ? `${client_id} is approved for no scope any more.`
        : `${client_id} is approved for ${scope.replaceAll(' ', ', ')}, as far as it registered that.`,
      'No new token has a scope for approved clients beyond these, whatever people consented to before.',
    ],
  })
}
