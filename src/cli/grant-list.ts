import type { Command } from 'commander'
import { moment } from './columns.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { GrantDocument } from '../admin/grant-tasks.ts'

/** `grantor grant list` */
export function addGrantList(parent: Command, terminal: Terminal): void {
  addListVerb<GrantDocument, { readonly client?: string; readonly user?: string }>(parent, terminal, {
    task: 'grant.list',
    within: 'organization.list-grants',
    options: (command) =>
      command
        .option('--client <id>', 'only what was allowed to this client')
        .option('--user <id>', 'only what this user allowed'),
    input: ({ client, user }) => ({ client_id: client, user_id: user }),
    rows: 'grants',
    headings: ['ID', 'USER', 'CLIENT', 'ORGANIZATION', 'SCOPE', 'ALLOWED (UTC)', 'EXPIRES (UTC)', 'REVOKED (UTC)'],
    cells: ({ grant_id, user_id, client_id, organization_id, scope, created_at, expires_at, revoked_at }) => [
      [
        grant_id,
        user_id,
        client_id,
        organization_id ?? '–',
        scope === '' ? '–' : scope,
        moment(created_at),
        moment(expires_at),
        moment(revoked_at),
      ],
    ],
    empty: 'Nobody has allowed anything yet, or nothing that fits.',
  })
}
