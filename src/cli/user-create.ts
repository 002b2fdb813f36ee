import type { Command } from 'commander'
import { readPassword } from './ask-password.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

interface Options {
  readonly email: string
  readonly password?: string
  readonly name?: string
}

/** `grantor user create` */
export function addUserCreate(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument, Options>(parent, terminal, {
    verb: 'create',
    task: 'user.create',
    whenMissing: 'create',
    options: (command) =>
      command
        .requiredOption('--email <address>', 'the address that the person signs in with')
        .option('--password <password>', 'the password; - reads it from standard input; asked for when not given')
        .option('--name <name>', "the person's name, as the pages show it"),
    input: async ({ email, password, name }) => ({ email, name, password: await readPassword(terminal, password) }),
    say: (user) => [`Created ${user.email} (${user.user_id}).`],
  })
}
