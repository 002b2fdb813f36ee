import type { Command } from 'commander'
import { describeClient, enableClient } from '../admin/clients.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client enable` */
export function addClientEnable(parent: Command, terminal: Terminal): void {
  withJson(parent.command('enable'))
    .description('Enable a client again; what it had works again.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      const client = await inWorkshop((context) => enableClient(context, id))
      if (options.json) terminal.printJson(describeClient(client))
      else terminal.print([`${client.id} is enabled.`])
    })
}
