import type { Command } from 'commander'
import { readPassword } from './ask-password.ts'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user set-password` */
export function addUserSetPassword(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument, { readonly password?: string }>(parent, terminal, {
    verb: 'set-password',
    task: 'user.set-password',
    subjects: [USER],
    options: (command) =>
      command.option('--password <password>', 'the password; - reads it from standard input; asked for when not given'),
    input: async ({ password }) => ({ password: await readPassword(terminal, password) }),
    say: ({ email }) => [`${email} has a new password. Whoever was signed in must sign in again.`],
  })
}
