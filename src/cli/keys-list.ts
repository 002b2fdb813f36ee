import type { Command } from 'commander'
import { columns, moment } from './columns.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { KeyDocument } from '../admin/key-tasks.ts'

/** `grantor key list` */
export function addKeysList(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly keys: readonly (KeyDocument & { readonly state: string })[] }>(parent, terminal, {
    verb: 'list',
    task: 'key.list',
    say({ keys }, { paint }) {
      const cells = keys.map(({ kid, algorithm, state, created_at, active_from }) => [
        kid,
        algorithm,
        state,
        moment(created_at),
        moment(active_from),
      ])
      return columns(['KEY', 'ALGORITHM', 'STATE', 'MADE (UTC)', 'SIGNS FROM (UTC)'], cells, paint)
    },
  })
}
