import type { Command } from 'commander'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor org delete` */
export function addOrgDelete(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly organization_id: string }>(parent, terminal, {
    verb: 'delete',
    task: 'organization.delete',
    subjects: [ORGANIZATION],
    say: ({ organization_id }) => [
      `Deleted ${organization_id}, with its memberships and installations. No token for it works.`,
    ],
  })
}
