import type { Command } from 'commander'
import { moment } from './columns.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { UserDocument } from '../admin/describe-user.ts'

/** `grantor user list` */
export function addUserList(parent: Command, terminal: Terminal): void {
  addListVerb<UserDocument>(parent, terminal, {
    task: 'user.list',
    rows: 'users',
    headings: ['EMAIL', 'NAME', 'CREATED (UTC)', 'STATE', 'ID'],
    cells: ({ email, name, created_at, disabled_at, user_id }) => [
      [email, name ?? '–', moment(created_at), disabled_at === null ? 'active' : 'disabled', user_id],
    ],
    empty: 'There are no users. Make one: grantor user create --email <address>',
  })
}
