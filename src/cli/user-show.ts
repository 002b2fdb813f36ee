import type { Command } from 'commander'
import { record } from './columns.ts'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user show` */
export function addUserShow(parent: Command, terminal: Terminal): void {
  addTaskVerb<UserDocument>(parent, terminal, {
    verb: 'show',
    task: 'user.show',
    subjects: [USER],
    say: (user, { paint }) => record(user, paint),
  })
}
