import type { InitialTokenDocument } from '../../admin/client/initial-token.ts'
import { formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { readGivenFile } from '../lib/given-file.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

/** The verbs of `grantor initial-token`. */
export const INITIAL_TOKEN_VERBS: readonly AddVerb[] = [
  taskVerb<InitialTokenDocument & { readonly initial_access_token: string }, { readonly template?: unknown }>({
    task: 'initial-token.create',
    members: { template: false },
    options: (command) =>
      command.option(
        '--template <file>',
        'a JSON file with the settings of the clients (docs/registration.md)',
        readTemplate,
      ),
    input: ({ template }) => ({ template }),
    say: ({ initial_token_id, initial_access_token, uses, template, expires_at }) => [
      'The initial access token, which is not shown again:',
      `  ${initial_access_token}`,
      `With it, ${uses === 1 ? 'one client' : `${uses} clients`} can register until ${formatTime(expires_at)} UTC. They are ${template.trust_level}.`,
      `To revoke it: grantor initial-token revoke ${forShell(initial_token_id)}`,
    ],
  }),
  listVerb<InitialTokenDocument>({
    task: 'initial-token.list',
    rows: 'initial_tokens',
    headings: ['ID', 'NAME', 'USES LEFT', 'CLIENTS', 'EXPIRES (UTC)', 'REVOKED (UTC)'],
    cells: ({ initial_token_id, name, uses, uses_left, template, expires_at, revoked_at }) => [
      [
        initial_token_id,
        name,
        `${uses_left} of ${uses}`,
        template.trust_level,
        formatTime(expires_at),
        formatTime(revoked_at),
      ],
    ],
    empty: 'There are no initial access tokens. Create one: grantor initial-token create --name <name>',
  }),
  taskVerb<InitialTokenDocument>({
    task: 'initial-token.revoke',
    say: ({ initial_token_id, name }) =>
      `The initial access token ${initial_token_id} (${name}) is revoked on all nodes.`,
  }),
]

function readTemplate(path: string): unknown {
  const text = readGivenFile(path)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UsageError(`${path} is not JSON.`)
  }
}
