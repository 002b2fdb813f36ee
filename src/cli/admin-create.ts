import { Option, type Command } from 'commander'
import { moment } from './columns.ts'
import { parseCount } from './parse-options.ts'
import { ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { AdminCredentialDocument } from '../admin/admin-tasks.ts'

interface Options {
  readonly name: string
  readonly access: string
  readonly days?: number
}

/** `grantor admin create` */
export function addAdminCreate(parent: Command, terminal: Terminal): void {
  addTaskVerb<AdminCredentialDocument & { readonly token: string }, Options>(parent, terminal, {
    verb: 'create',
    task: 'admin.create',
    whenMissing: 'create',
    options: (command) =>
      command
        .requiredOption('--name <name>', 'whose they are or what they are for; the audit names it')
        .addOption(
          new Option('--access <access>', 'whether they may only read')
            .choices(['read', 'write'])
            .makeOptionMandatory(),
        )
        .option('--days <days>', 'how long they work, up to 365; 90 when not given', parseCount),
    filters: [
      { ...ORGANIZATION, meaning: 'the one organization that they are for, by id or name; everything when not given' },
    ],
    input: ({ name, access, days }) => ({ name, access, days }),
    say: ({ credential_id, token, access, organization_id, expires_at }) => [
      `The token, which is not shown again:`,
      `  ${token}`,
      `It may ${access} ${organization_id ?? 'everything'} until ${moment(expires_at)} UTC. Use it with --server:`,
      '  GRANTOR_ADMIN_TOKEN=… grantor client list --server <url>',
      `To end it: grantor admin revoke ${credential_id}`,
    ],
  })
}
