import type { Command } from 'commander'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user revoke-tokens` */
export function addUserExpire(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument>(parent, terminal, {
    verb: 'revoke-tokens',
    task: 'user.revoke-tokens',
    subjects: [USER],
    say: ({ email }) => [`${email} is signed out everywhere, and no token from before works.`],
  })
}
