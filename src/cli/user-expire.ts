import type { Command } from 'commander'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user expire` */
export function addUserExpire(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument>(parent, terminal, {
    verb: 'expire',
    task: 'user.expire',
    subjects: [USER],
    say: ({ email }) => [`${email} is signed out everywhere, and no token from before works.`],
  })
}
