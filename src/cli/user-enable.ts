import type { Command } from 'commander'
import { describeUser, enableUser } from '../admin/users.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor user enable` */
export function addUserEnable(parent: Command, terminal: Terminal): void {
  withJson(parent.command('enable'))
    .description('Enable an account again; what ended stays ended.')
    .argument('[email]', 'whose')
    .option('--email <address>', 'the same')
    .action(async (argument: string | undefined, options: { readonly email?: string; readonly json?: true }) => {
      const email = subjectOf('email', argument, options.email)
      const user = await inWorkshop((context) => enableUser(context, email))
      if (options.json) terminal.printJson(describeUser(user))
      else terminal.print([`${user.email} may sign in again.`])
    })
}
