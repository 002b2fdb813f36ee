import type { Command } from 'commander'
import { describeUser, disableUser } from '../admin/users.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor user disable` */
export function addUserDisable(parent: Command, terminal: Terminal): void {
  withJson(parent.command('disable'))
    .description('Disable an account: its sessions and tokens stop working.')
    .argument('[email]', 'whose')
    .option('--email <address>', 'the same')
    .action(async (argument: string | undefined, options: { readonly email?: string; readonly json?: true }) => {
      const email = subjectOf('email', argument, options.email)
      const user = await inWorkshop((context) => disableUser(context, email))
      if (options.json) terminal.printJson(describeUser(user))
      else terminal.print([`${user.email} is disabled. To undo that: grantor user enable ${user.email}`])
    })
}
