import type { Command } from 'commander'
import { moment } from './columns.ts'
import { ORGANIZATION } from './subjects.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { MemberDocument } from '../admin/member-tasks.ts'

/** `grantor org members` */
export function addOrgMembers(parent: Command, terminal: Terminal): void {
  addListVerb<MemberDocument>(parent, terminal, {
    verb: 'members',
    task: 'member.list',
    subjects: [ORGANIZATION],
    rows: 'members',
    headings: ['EMAIL', 'NAME', 'MEMBER SINCE (UTC)', 'STATE', 'ID'],
    cells: ({ email, name, created_at, disabled_at, user_id }) => [
      [email ?? '–', name ?? '–', moment(created_at), disabled_at === null ? 'active' : 'disabled', user_id],
    ],
    empty: 'It has no members. Add one: grantor org add-member <organization> <address>',
  })
}
