import type { Command } from 'commander'
import { NAME } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org create` */
export function addOrgCreate(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'create',
    task: 'organization.create',
    whenMissing: 'create',
    subjects: [NAME],
    say: ({ organization_id, name }) => [
      `Created ${name} (${organization_id}). To add somebody: grantor org add-member ${organization_id} <address>`,
    ],
  })
}
