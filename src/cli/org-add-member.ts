import type { Command } from 'commander'
import { NEW_MEMBER, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { MemberDocument } from '../admin/member-tasks.ts'

/** `grantor org add-member` */
export function addOrgAddMember(parent: Command, terminal: Terminal): void {
  addTaskVerb<MemberDocument>(parent, terminal, {
    verb: 'add-member',
    task: 'member.add',
    subjects: [ORGANIZATION, NEW_MEMBER],
    say: ({ email, user_id, organization_id }) => [`${email ?? user_id} may act for ${organization_id} now.`],
  })
}
