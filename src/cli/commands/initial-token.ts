import type { InitialTokenDocument } from '../../admin/initial-token.ts'
import { formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { readGivenFile } from '../lib/given-file.ts'
import { parseCount } from '../lib/options.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface CreateOptions {
  readonly name: string
  readonly uses?: number
  readonly days?: number
  readonly template?: string
}

/** The verbs of `grantor initial-token`. */
export const INITIAL_TOKEN_VERBS: readonly AddVerb[] = [
  taskVerb<InitialTokenDocument & { readonly initial_access_token: string }, CreateOptions>({
    task: 'initial-token.create',
    options: (command) =>
      command
        .requiredOption('--name <name>', 'a name for the token: the program or the person that it is for')
        .option('--uses <uses>', 'how many clients can register with it, up to 10,000; by default 1', parseCount)
        .option('--days <days>', 'how many days it is valid, up to 365; by default 30', parseCount)
        .option('--template <file>', 'a JSON file that says what the clients are (docs/registration.md)'),
    input: ({ name, uses, days, template }) => ({
      name,
      uses,
      days,
      ...(template === undefined ? {} : { template: readTemplate(template) }),
    }),
    say: ({ initial_token_id, initial_access_token, uses, template, expires_at }) => [
      'The initial access token, which is not shown again:',
      `  ${initial_access_token}`,
      `With it, ${uses === 1 ? 'one client' : `${uses} clients`} can register until ${formatTime(expires_at)} UTC. They are ${template.trust_level}.`,
      `To revoke it: grantor initial-token revoke ${initial_token_id}`,
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
