import type { Command } from 'commander'
import { moment, nameOf } from './columns.ts'
import { CLIENT_FILTER, USER_FILTER } from './subjects.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { GrantDocument } from '../admin/grant-tasks.ts'

/** `grantor grant list` */
export function addGrantList(parent: Command, terminal: Terminal): void {
  addListVerb<GrantDocument>(parent, terminal, {
    task: 'grant.list',
    within: 'organization.list-grants',
    filters: [CLIENT_FILTER, USER_FILTER],
    rows: 'grants',
    headings: ['ID', 'USER', 'CLIENT', 'ORGANIZATION', 'SCOPE', 'ALLOWED (UTC)', 'EXPIRES (UTC)', 'REVOKED (UTC)'],
    cells: ({ grant_id, user_id, client_id, organization_id, scope, created_at, expires_at, revoked_at }, names) => [
      [
        grant_id,
        nameOf(names, user_id),
        nameOf(names, client_id),
        nameOf(names, organization_id),
        scope === '' ? '–' : scope,
        moment(created_at),
        moment(expires_at),
        moment(revoked_at),
      ],
    ],
    empty: 'Nobody has allowed anything yet, or nothing that fits.',
  })
}
