import type { Command } from 'commander'
import { describeClient, unverifyClient } from '../admin/clients.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client unverify` */
export function addClientUnverify(parent: Command, terminal: Terminal): void {
  withJson(parent.command('unverify'))
    .description('Vouch for a client no more.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      const client = await inWorkshop((context) => unverifyClient(context, id))
      if (options.json) terminal.printJson(describeClient(client))
      else terminal.print([`${client.id} is not verified any more.`])
    })
}
