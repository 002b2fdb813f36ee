import type { Command } from 'commander'
import { moment } from './columns.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org list` */
export function addOrgList(parent: Command, terminal: Terminal): void {
  addListVerb<OrganizationDocument>(parent, terminal, {
    task: 'organization.list',
    rows: 'organizations',
    headings: ['ID', 'NAME', 'CREATED (UTC)', 'STATE'],
    cells: ({ organization_id, name, created_at, disabled_at }) => [
      [organization_id, name, moment(created_at), disabled_at === null ? 'active' : 'disabled'],
    ],
    empty: 'There are no organizations. Make one: grantor org create <name>',
  })
}
