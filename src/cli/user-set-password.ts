import type { Command } from 'commander'
import { describeUser, setPassword } from '../admin/users.ts'
import { readPassword } from './ask-password.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

interface Options {
  readonly email?: string
  readonly password?: string
  readonly json?: true
}

/** `grantor user set-password` */
export function addUserSetPassword(parent: Command, terminal: Terminal): void {
  withJson(parent.command('set-password'))
    .description('Set a new password; ends every session and grant from before.')
    .argument('[email]', 'whose')
    .option('--email <address>', 'the same')
    .option('--password <password>', 'the password; - reads it from standard input; asked for when not given')
    .action(async (argument: string | undefined, options: Options) => {
      const email = subjectOf('email', argument, options.email)
      const password = await readPassword(terminal, options.password)
      const user = await inWorkshop((context) => setPassword(context, email, password))
      if (options.json) terminal.printJson(describeUser(user))
      else terminal.print([`${user.email} has a new password. Whoever was signed in must sign in again.`])
    })
}
