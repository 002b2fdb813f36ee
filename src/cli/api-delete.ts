import type { Command } from 'commander'
import { API } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor api delete` */
export function addApiDelete(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly resource: string }>(parent, terminal, {
    verb: 'delete',
    task: 'api.delete',
    subjects: [API],
    say: ({ resource }) => [`Deleted ${resource}. Tokens that were issued for it stay valid until they expire.`],
  })
}
