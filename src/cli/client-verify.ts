import type { Command } from 'commander'
import { describeClient, verifyClient } from '../admin/clients.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client verify` */
export function addClientVerify(parent: Command, terminal: Terminal): void {
  withJson(parent.command('verify'))
    .description('Vouch for a client: people who are asked to consent see that you did.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      const client = await inWorkshop((context) => verifyClient(context, id))
      if (options.json) terminal.printJson(describeClient(client))
      else terminal.print([`${client.id} is verified. To undo that: grantor client unverify ${client.id}`])
    })
}
