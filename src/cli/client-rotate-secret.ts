import type { Command } from 'commander'
import { moment } from './columns.ts'
import { parseSeconds } from './parse-options.ts'
import { CLIENT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

interface RotatedSecret {
  readonly client_id: string
  readonly client_secret: string
  readonly previous_secret_until: string
}

/** `grantor client rotate-secret` */
export function addClientRotateSecret(parent: Command, terminal: Terminal): void {
  addTaskVerb<RotatedSecret, { readonly overlap?: number }>(parent, terminal, {
    verb: 'rotate-secret',
    task: 'client.rotate-secret',
    subjects: [CLIENT],
    options: (command) =>
      command.option(
        '--overlap <seconds>',
        'how long the secret before goes on working, a day when not given; 0: it ends at once',
        parseSeconds,
      ),
    input: ({ overlap }) => ({ overlap_seconds: overlap }),
    say: ({ client_id, client_secret, previous_secret_until }) => [
      `The new secret of ${client_id}, which is not shown again:`,
      `  ${client_secret}`,
      `The one before works until ${moment(previous_secret_until)} UTC.`,
    ],
  })
}
