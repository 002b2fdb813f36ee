import type { Command } from 'commander'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { OrganizationDocument } from '../admin/organization-tasks.ts'

/** `grantor org revoke-tokens` */
export function addOrgExpire(parent: Command, terminal: Terminal): void {
  addTaskVerb<OrganizationDocument>(parent, terminal, {
    verb: 'revoke-tokens',
    task: 'organization.revoke-tokens',
    subjects: [ORGANIZATION],
    say: ({ name }) => [`All tokens for ${name} are revoked. New ones can be requested.`],
  })
}
