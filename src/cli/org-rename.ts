import type { Command } from 'commander'
import { NAME, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org rename` */
export function addOrgRename(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'rename',
    task: 'organization.rename',
    subjects: [ORGANIZATION, NAME],
    say: ({ name }) => [`It is called ${name} now.`],
  })
}
