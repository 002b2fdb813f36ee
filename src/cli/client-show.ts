import type { Command } from 'commander'
import { describeClient, showClient } from '../admin/clients.ts'
import { facts } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor client show` */
export function addClientShow(parent: Command, terminal: Terminal): void {
  withJson(parent.command('show'))
    .description('Show everything about a client but its secret.')
    .argument('[id]', 'its client_id')
    .option('--id <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly id?: string; readonly json?: true }) => {
      const id = subjectOf('id', argument, options.id)
      const client = describeClient(await inWorkshop((context) => showClient(context, id)))
      if (options.json) terminal.printJson(client)
      else {
        const pairs = Object.entries(client).map(([name, value]): [string, string] => [name, textOf(name, value)])
        terminal.print(facts(pairs, terminal.paint))
      }
    })
}

function textOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (name === 'client_id_issued_at') return new Date(Number(value) * 1000).toISOString()
  return typeof value === 'string' && value !== '' ? value : '–'
}
