import type { Command } from 'commander'
import { describeKey, listKeys } from '../admin/keys.ts'
import { columns, moment } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, withJson } from './verb.ts'

/** `grantor keys list` */
export function addKeysList(parent: Command, terminal: Terminal): void {
  withJson(parent.command('list'))
    .description('List the published signing keys, and which one signs.')
    .action(async ({ json }: { readonly json?: true }) => {
      const keys = await inWorkshop(listKeys)
      if (json) terminal.printJson({ keys: keys.map((key) => ({ ...describeKey(key), state: key.state })) })
      else {
        const cells = keys.map(({ id, algorithm, state, createdAt, activeFrom }) => [
          id,
          algorithm,
          state,
          moment(createdAt),
          moment(activeFrom),
        ])
        terminal.print(columns(['KEY', 'ALGORITHM', 'STATE', 'MADE', 'SIGNS FROM'], cells, terminal.paint))
      }
    })
}
