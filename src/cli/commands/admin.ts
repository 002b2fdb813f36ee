import type { Command } from 'commander'
import type { AdminCredentialDocument } from '../../admin/admin.ts'
import { describeTasks } from '../../admin/openapi.ts'
import { VERSION } from '../../server/version.ts'
import { formatTime } from '../lib/columns.ts'
import { ORGANIZATION } from '../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
import type { Terminal } from '../lib/terminal.ts'
import { forShell } from '../../base/shell.ts'

/** What credentials with a special access are for. */
const SPECIAL: Readonly<Record<string, string>> = { metrics: '/metrics', delegate: 'sign-ins' }

/** The verbs of `grantor admin`. */
export const ADMIN_VERBS: readonly AddVerb[] = verbsOf(
  ['admin'],
  [
    taskVerb<AdminCredentialDocument>({
      task: 'admin.create',
      filters: [
        {
          ...ORGANIZATION,
          meaning: 'the one organization that the credentials are for, by id or name; by default the whole server',
        },
      ],
      adds: ({ credential_id, access, organization_id }) => [
        ...(access === 'metrics'
          ? ['The token can read /metrics, and nothing else. Put it into the credentials_file of Prometheus.']
          : [
              `The token has ${access} access to ${organization_id ?? 'everything'}. Use it with --server:`,
              '  GRANTOR_ADMIN_TOKEN=… grantor client list --server <url>',
            ]),
        `To revoke it: grantor admin revoke ${forShell(credential_id)}`,
      ],
    }),
    listVerb<AdminCredentialDocument>({
      task: 'admin.list',
      rows: 'credentials',
      headings: ['ID', 'NAME', 'ACCESS', 'TO', 'CREATED (UTC)', 'EXPIRES (UTC)', 'REVOKED (UTC)'],
      cells: ({ credential_id, name, access, organization_id, created_at, expires_at, revoked_at }) => [
        [
          credential_id,
          name,
          access,
          SPECIAL[access] ?? organization_id ?? 'everything',
          formatTime(created_at),
          formatTime(expires_at),
          formatTime(revoked_at),
        ],
      ],
      empty: 'There are no credentials. Create some: grantor admin create --name <name> --access <read|write|metrics>',
    }),
    addOpenapi,
  ],
)

/** `grantor admin openapi` */
function addOpenapi(noun: Command, terminal: Terminal): void {
  noun
    .command('openapi')
    .description('Print the description of the admin HTTP API, OpenAPI 3.1.')
    .action(() => terminal.printJson(describeTasks(VERSION)))
}

/** The verbs of `grantor delegate`. */
export const DELEGATE_VERBS: readonly AddVerb[] = [
  taskVerb<AdminCredentialDocument>({
    task: 'delegate.create-credentials',
    adds: ({ credential_id }) => [
      'The token can answer sign-ins, and nothing else.',
      `To revoke it: grantor admin revoke ${forShell(credential_id)}`,
    ],
  }),
]
