import type { Command } from 'commander'
import { describeClient, listClients } from '../admin/clients.ts'
import type { ClientRecord } from '../ports/records.ts'
import { columns, moment } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, nextPage, withJson, withPage, type PageOptions } from './verb.ts'

/** `grantor client list` */
export function addClientList(parent: Command, terminal: Terminal): void {
  withPage(withJson(parent.command('list')))
    .description('List the registered clients, newest first.')
    .action(async ({ limit, before, json }: PageOptions & { readonly json?: true }) => {
      const { rows, next } = await inWorkshop((context) => listClients(context, { before, limit }))
      if (json) terminal.printJson({ clients: rows.map(describeClient), next: next ?? null })
      else if (rows.length === 0) terminal.print(['No client has registered yet.'])
      else {
        const lines = columns(['ID', 'NAME', 'REGISTERED', 'FIRST USED', 'STATE'], rows.map(cellsOf), terminal.paint)
        terminal.print([...lines, ...nextPage(next)])
      }
    })
}

function cellsOf({ id, metadata, issuedAt, usedAt, disabledAt, verifiedAt }: ClientRecord): readonly string[] {
  const state = disabledAt !== undefined ? 'disabled' : verifiedAt === undefined ? 'unverified' : 'verified'
  return [id, metadata.descriptive.client_name ?? '–', moment(issuedAt * 1000), moment(usedAt), state]
}
