import type { Command } from 'commander'
import { deleteApi } from '../admin/apis.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor api delete` */
export function addApiDelete(parent: Command, terminal: Terminal): void {
  withJson(parent.command('delete'))
    .description('Take an API back: no token is issued for it any more.')
    .argument('[resource]', 'its identifier')
    .option('--resource <uri>', 'the same')
    .action(async (argument: string | undefined, options: { readonly resource?: string; readonly json?: true }) => {
      const text = subjectOf('resource', argument, options.resource)
      const resource = await inWorkshop((context) => deleteApi(context, text))
      if (options.json) terminal.printJson({ resource, deleted: true })
      else terminal.print([`Deleted ${resource}. Tokens that were issued for it stay valid until they expire.`])
    })
}
