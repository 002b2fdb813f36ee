import type { Command } from 'commander'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org enable` */
export function addOrgEnable(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'enable',
    task: 'organization.enable',
    subjects: [ORGANIZATION],
    say: ({ name }) => [`${name} is enabled.`],
  })
}
