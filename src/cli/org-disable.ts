import type { Command } from 'commander'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org disable` */
export function addOrgDisable(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'disable',
    task: 'organization.disable',
    subjects: [ORGANIZATION],
    say: ({ organization_id, name }) => [
      `${name} is disabled, and what was issued for it is dead. To undo that: grantor org enable ${organization_id}`,
    ],
  })
}
