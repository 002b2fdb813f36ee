import type { Command } from 'commander'
import { record } from './columns.ts'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org show` */
export function addOrgShow(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'show',
    task: 'organization.show',
    subjects: [ORGANIZATION],
    say: (organization, { paint }) => record(organization, paint),
  })
}
