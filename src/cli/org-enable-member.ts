import type { Command } from 'commander'
import { MEMBER, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { MemberDocument } from '../admin/member-tasks.ts'

/** `grantor org enable-member` */
export function addOrgEnableMember(parent: Command, terminal: Terminal): void {
  addTaskVerb<MemberDocument>(parent, terminal, {
    verb: 'enable-member',
    task: 'member.enable',
    subjects: [ORGANIZATION, MEMBER],
    say: ({ email, user_id, organization_id }) => [`${email ?? user_id} may act for ${organization_id} again.`],
  })
}
