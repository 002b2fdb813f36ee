import type { Command } from 'commander'
import { USER } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor user delete` */
export function addUserDelete(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly email: string }>(parent, terminal, {
    verb: 'delete',
    task: 'user.delete',
    subjects: [USER],
    say: ({ email }) => [`Deleted ${email}, with sessions, memberships and consents. No token of theirs works.`],
  })
}
