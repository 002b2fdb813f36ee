import type { Command } from 'commander'
import { moment } from './columns.ts'
import { ORGANIZATION } from './subjects.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { InstallationDocument } from '../admin/installation-tasks.ts'

/** `grantor org installations` */
export function addOrgInstallations(parent: Command, terminal: Terminal): void {
  addListVerb<InstallationDocument>(parent, terminal, {
    verb: 'installations',
    task: 'installation.list',
    subjects: [ORGANIZATION],
    rows: 'installations',
    headings: ['CLIENT', 'NAME', 'SCOPE', 'FOR MEMBERS', 'INSTALLED (UTC)', 'STATE'],
    cells: ({ client_id, client_name, scope, acts_for_members, created_at, disabled_at }) => [
      [
        client_id,
        client_name ?? '–',
        scope === '' ? '–' : scope,
        acts_for_members ? 'yes' : 'no',
        moment(created_at),
        disabled_at === null ? 'active' : 'disabled',
      ],
    ],
    empty: 'No client is installed. Install one: grantor org install <organization> <client> --scope <scopes>',
  })
}
