import type { Command } from 'commander'
import { readToken } from './ask-password.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

interface Revoked {
  readonly revoked: 'access' | 'family'
  readonly token_id: string | null
  readonly grant_id: string | null
}

/** `grantor token revoke` */
export function addTokenRevoke(parent: Command, terminal: Terminal): void {
  addTaskVerb<Revoked, { readonly family?: true }>(parent, terminal, {
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
  })
}
