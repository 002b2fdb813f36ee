import type { Command } from 'commander'
import type { TokenInspection } from '../../admin/token.ts'
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
    task: 'token.inspect',
    members: { token: false },
    options: withToken,
    input: async (_, { stdin }, [token]) => ({ token: await readToken(stdin, token) }),
    say: (inspection, { paint }) => record({ ...inspection, resources: resourcesOf(inspection) }, paint),
  }),
  taskVerb<Revoked>({
    task: 'token.revoke',
    members: { token: false },
    options: withToken,
    input: async (_, { stdin }, [token]) => ({ token: await readToken(stdin, token) }),
    adds: ({ revoked, token_id, grant_id }) => [
      revoked === 'access'
        ? `It is the access token ${token_id}.`
        : `With it the grant ${grant_id} and all of its tokens.`,
    ],
  }),
  taskVerb<object, { readonly yes?: true }>({
    task: 'token.revoke-all',
    members: { confirm: false },
    options: (command) => command.option('--yes', 'confirm the command'),
    input({ yes }) {
      if (yes) return { confirm: 'everything' }
      throw new UsageError('This revokes all sessions and tokens of all users and clients. To confirm, add --yes.')
    },
  }),
]

function withToken(command: Command): Command {
  const meaning = 'the token; - reads it from standard input, where other users of the machine cannot see it'
  return command.argument('[token]', meaning)
}

function resourcesOf({ kind, resources }: TokenInspection): TokenInspection['resources'] {
  return resources.length === 0 && kind !== 'unknown' ? ['none: the token is for the issuer'] : resources
}
