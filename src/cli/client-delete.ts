import type { Command } from 'commander'
import { deleteClient } from '../admin/clients.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client delete` */
export function addClientDelete(parent: Command, terminal: Terminal): void {
  withJson(parent.command('delete'))
    .description('Delete a client: it gets no token any more.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      await inWorkshop((context) => deleteClient(context, id))
      if (options.json) terminal.printJson({ client_id: id, deleted: true })
      else terminal.print([`Deleted ${id}.`])
    })
}
