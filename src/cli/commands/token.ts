import type { TokenInspection } from '../../admin/token-tasks.ts'
import { readToken } from '../lib/ask-password.ts'
import { record } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface Revoked {
  readonly revoked: 'access' | 'family'
  readonly token_id: string | null
  readonly grant_id: string | null
}

/** The verbs of `grantor token`. */
export const TOKEN_VERBS: readonly AddVerb[] = [
  taskVerb<TokenInspection>({
    verb: 'inspect',
    task: 'token.inspect',
    options: (command) =>
      command.argument('[token]', 'the token; - reads it from standard input, so that nobody else sees it'),
    input: async (_, { stdin }, [token]) => ({ token: await readToken(stdin, token) }),
    say: (inspection, { paint }) => record({ ...inspection, resources: resourcesOf(inspection) }, paint),
  }),
  taskVerb<Revoked, { readonly family?: true }>({
    verb: 'revoke',
    task: 'token.revoke',
    options: (command) =>
      command
        .argument('[token]', 'the token; - reads it from standard input, so that nobody else sees it')
        .option('--family', "end the whole grant of an access token; a refresh token's always ends"),
    input: async ({ family }, { stdin }, [token]) => ({
      token: await readToken(stdin, token),
      family: family === true,
    }),
    say: ({ revoked, token_id, grant_id }) => [
      revoked === 'access'
        ? `The access token ${token_id} is revoked.`
        : `The grant ${grant_id} is revoked, with all of its tokens.`,
    ],
  }),
  taskVerb<{ readonly not_before: string }, { readonly yes?: true }>({
    verb: 'revoke-all',
    task: 'token.revoke-all',
    options: (command) => command.option('--yes', 'says that this is meant'),
    input({ yes }) {
      if (yes) return { confirm: 'everything' }
      throw new UsageError("This ends everybody's sessions and tokens, of all clients. If it is meant, add --yes.")
    },
    say: ({ not_before }) => [
      `Every session and token from before ${not_before} is dead. Running servers know it within a second.`,
    ],
  }),
]

function resourcesOf({ kind, resources }: TokenInspection): TokenInspection['resources'] {
  return resources.length === 0 && kind !== 'unknown' ? ['none: the token is for the issuer'] : resources
}
