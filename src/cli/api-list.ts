import type { Command } from 'commander'
import { describeApi, listApis } from '../admin/apis.ts'
import { columns } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, nextPage, withJson, withPage, type PageOptions } from './verb.ts'

/** `grantor api list` */
export function addApiList(parent: Command, terminal: Terminal): void {
  withPage(withJson(parent.command('list')))
    .description('List the declared APIs and their scopes.')
    .action(async ({ limit, before, json }: PageOptions & { readonly json?: true }) => {
      const { rows, next } = await inWorkshop((context) => listApis(context, { before, limit }))
      if (json) terminal.printJson({ apis: rows.map(describeApi), next: next ?? null })
      else if (rows.length === 0) {
        terminal.print([
          'No API is declared. Declare one: grantor api create --resource <uri> --scope <name>=<sentence>',
        ])
      } else {
        const cells = rows.flatMap(({ resource, name, scopes }) => [
          [resource, name ?? '–', '', ''],
          ...scopes.map((scope) => [
            '',
            '',
            scope.name,
            scope.grantedTo === 'users' ? 'with consent' : 'with consent, or by itself',
            scope.sentence,
          ]),
        ])
        const lines = columns(['RESOURCE', 'NAME', 'SCOPE', 'GRANTED', 'SENTENCE'], cells, terminal.paint)
        terminal.print([...lines, ...nextPage(next)])
      }
    })
}
