import type { Command } from 'commander'
import { createUser, describeUser } from '../admin/users.ts'
import { readPassword } from './ask-password.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, withJson } from './verb.ts'

interface Options {
  readonly email: string
  readonly password?: string
  readonly name?: string
  readonly json?: true
}

/** `grantor user create` */
export function addUserCreate(parent: Command, terminal: Terminal): void {
  withJson(parent.command('create'))
    .description('Create an account that people sign in with.')
    .requiredOption('--email <address>', 'the address that the person signs in with')
    .option('--password <password>', 'the password; - reads it from standard input; asked for when not given')
    .option('--name <name>', "the person's name, as the pages show it")
    .action(async ({ email, password: given, name, json }: Options) => {
      const password = await readPassword(terminal, given)
      const user = await inWorkshop((context) => createUser(context, { email, password, name }))
      if (json) terminal.printJson(describeUser(user))
      else terminal.print([`Created ${user.email} (${user.id}).`])
    })
}
