import type { InitialTokenDocument } from '../../admin/client/initial-token.ts'
import { formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { readGivenFile } from '../lib/given-file.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

/** The verbs of `grantor initial-token`. */
export const INITIAL_TOKEN_VERBS: readonly AddVerb[] = verbsOf(
  ['initial-token'],
  [
    taskVerb<InitialTokenDocument, { readonly template?: unknown }>({
      task: 'initial-token.create',
      members: { template: false },
      options: (command) =>
        command.option(
          '--template <file>',
          'a JSON file with the settings of the clients (docs/clients.md)',
          readTemplate,
        ),
      input: ({ template }) => ({ template }),
      adds: ({ initial_token_id }) => [`To revoke it: grantor initial-token revoke ${forShell(initial_token_id)}`],
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
  ],
)

function readTemplate(path: string): unknown {
  const text = readGivenFile(path)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UsageError(`${path} is not JSON.`)
  }
}
