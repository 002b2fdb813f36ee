import type { Command } from 'commander'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user disable` */
export function addUserDisable(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument>(parent, terminal, {
    verb: 'disable',
    task: 'user.disable',
    subjects: [USER],
    say: ({ email }) => [`${email} is disabled. To undo that: grantor user enable ${email}`],
  })
}
