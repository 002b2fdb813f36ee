import type { Command } from 'commander'
import { MEMBER, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor org remove-member` */
export function addOrgRemoveMember(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly organization_id: string; readonly user_id: string }>(parent, terminal, {
    verb: 'remove-member',
    task: 'member.remove',
    subjects: [ORGANIZATION, MEMBER],
    say: ({ organization_id, user_id }) => [`${user_id} does not belong to ${organization_id} any more.`],
  })
}
