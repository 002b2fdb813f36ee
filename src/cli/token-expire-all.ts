import type { Command } from 'commander'
import { UsageError } from './failure.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor token expire-all` */
export function addTokenExpireAll(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly valid_from: string }, { readonly yes?: true }>(parent, terminal, {
    verb: 'expire-all',
    task: 'everything.expire',
    options: (command) => command.option('--yes', 'says that this is meant'),
    input({ yes }) {
      if (yes) return { confirm: 'everything' }
      throw new UsageError("This ends everybody's sessions and tokens, of all clients. If it is meant, add --yes.")
    },
    say: ({ valid_from }) => [
      `Every session and token from before ${valid_from} is dead. Running servers know it within a second.`,
    ],
  })
}
