import type { Command } from 'commander'
import { KEY } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor key retire` */
export function addKeysRetire(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly kid: string }>(parent, terminal, {
    verb: 'retire',
    task: 'key.retire',
    subjects: [KEY],
    say: ({ kid }) => [
      `Withdrew the key ${kid}. Running servers know it within two seconds: its tokens are inactive at introspection.`,
      'APIs with local verification accept them until they fetch the keys again, five minutes from now at the latest.',
    ],
  })
}
