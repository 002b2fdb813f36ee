import type { Command } from 'commander'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user enable` */
export function addUserEnable(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument>(parent, terminal, {
    verb: 'enable',
    task: 'user.enable',
    subjects: [USER],
    say: ({ email }) => [`${email} may sign in again.`],
  })
}
