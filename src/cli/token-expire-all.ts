import type { Command } from 'commander'
import { UsageError } from './failure.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor token revoke-all` */
export function addTokenExpireAll(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly not_before: string }, { readonly yes?: true }>(parent, terminal, {
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
  })
}
