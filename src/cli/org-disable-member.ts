import type { Command } from 'commander'
import { MEMBER, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { MemberDocument } from '../admin/member-tasks.ts'

/** `grantor org disable-member` */
export function addOrgDisableMember(parent: Command, terminal: Terminal): void {
  addTaskVerb<MemberDocument>(parent, terminal, {
    verb: 'disable-member',
    task: 'member.disable',
    subjects: [ORGANIZATION, MEMBER],
    say: ({ email, user_id, organization_id }) => [
      `${email ?? user_id} may not act for ${organization_id}. To undo that: grantor org enable-member ${organization_id} ${user_id}`,
    ],
  })
}
