import { readConfig } from '../../config/config.ts'
import { restore, type Restored } from '../../maintenance/restore.ts'
import { countRows, formatTime } from '../lib/columns.ts'
import { withJson } from '../lib/options.ts'
import type { AddVerb } from '../lib/task-verb.ts'
import { printRestored } from './restore.ts'

/** The verbs of `grantor import`: the server that the data comes from. */
export const IMPORT_VERBS: readonly AddVerb[] = [
  (noun, terminal) => {
    withJson(noun.command('grantor'))
      .description(
        'Import a file of "grantor export" into the empty database of DATABASE_URL. Except after --final, what was issued becomes invalid.',
      )
      .argument('<file>', 'the file')
      .action(async (file: string, { json }: { readonly json?: true }) => {
        const imported = await restore(readConfig(), { from: file, replace: false, isMove: true })
        const { adminToken, location, madeAt, rows } = imported
        if (adminToken !== undefined) return printRestored(terminal, imported, json === true)
        if (json) terminal.printJson({ database: location, made_at: madeAt, rows, tokens_kept: true })
        else terminal.print(linesOf(imported))
      })
  },
]

function linesOf({ location, madeAt, rows, isUnderPreviousSecret }: Restored): readonly string[] {
  return [
    `The store moved to ${location}: ${countRows(rows)} rows, as they were at ${formatTime(madeAt)} UTC.`,
    'Everything that was issued before is valid, with the same keys and administrators. Start the servers, and delete the file.',
    ...(isUnderPreviousSecret ? ['The store is under the previous root secret. Next, run: grantor secret rotate'] : []),
  ]
}
