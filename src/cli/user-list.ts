import type { Command } from 'commander'
import { describeUser, listUsers } from '../admin/users.ts'
import { columns, moment } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, nextPage, withJson, withPage, type PageOptions } from './verb.ts'

/** `grantor user list` */
export function addUserList(parent: Command, terminal: Terminal): void {
  withPage(withJson(parent.command('list')))
    .description('List the accounts, newest first.')
    .action(async ({ limit, before, json }: PageOptions & { readonly json?: true }) => {
      const { rows, next } = await inWorkshop((context) => listUsers(context, { before, limit }))
      if (json) terminal.printJson({ users: rows.map(describeUser), next: next ?? null })
      else if (rows.length === 0)
        terminal.print(['There are no users. Make one: grantor user create --email <address>'])
      else {
        const cells = rows.map(({ email, name, createdAt, disabledAt, id }) => {
          const state = disabledAt === undefined ? 'active' : 'disabled'
          return [email, name ?? '–', moment(createdAt), state, id]
        })
        const lines = columns(['EMAIL', 'NAME', 'CREATED', 'STATE', 'ID'], cells, terminal.paint)
        terminal.print([...lines, ...nextPage(next)])
      }
    })
}
