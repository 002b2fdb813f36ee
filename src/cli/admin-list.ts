import type { Command } from 'commander'
import { moment } from './columns.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { AdminCredentialDocument } from '../admin/admin-tasks.ts'

/** `grantor admin list` */
export function addAdminList(parent: Command, terminal: Terminal): void {
  addListVerb<AdminCredentialDocument>(parent, terminal, {
    task: 'admin.list',
    rows: 'credentials',
    headings: ['ID', 'NAME', 'ACCESS', 'TO', 'CREATED (UTC)', 'EXPIRES (UTC)', 'REVOKED (UTC)'],
    cells: ({ credential_id, name, access, organization_id, created_at, expires_at, revoked_at }) => [
      [
        credential_id,
        name,
        access,
        organization_id ?? 'everything',
        moment(created_at),
        moment(expires_at),
        moment(revoked_at),
      ],
    ],
    empty: 'There are no credentials. Make some: grantor admin create --name <name> --access <read|write>',
  })
}
