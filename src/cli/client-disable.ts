import type { Command } from 'commander'
import { describeClient, disableClient } from '../admin/clients.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client disable` */
export function addClientDisable(parent: Command, terminal: Terminal): void {
  withJson(parent.command('disable'))
    .description('Disable a client: nothing it has works any more, on any node within a second.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      const client = await inWorkshop((context) => disableClient(context, id))
      if (options.json) terminal.printJson(describeClient(client))
      else terminal.print([`${client.id} is disabled. To undo that: grantor client enable ${client.id}`])
    })
}
