import type { Command } from 'commander'
import { readConfig } from '../../../config/config.ts'
import { locationOf } from '../../../config/database-url.ts'
import type { Restored } from '../../../maintenance/restore.ts'
import { countRows, formatTime } from '../../lib/columns.ts'
import { withJson } from '../../lib/options.ts'
import type { AddVerb } from '../../lib/task-verb.ts'
import type { Terminal } from '../../lib/terminal.ts'
import { backUpAsAdministrator } from './backup.ts'
import { printRestored } from './restore.ts'

interface ExportOptions {
  readonly to: string
  readonly final?: true
  readonly json?: true
}

/** `grantor export` */
export function addExport(parent: Command, terminal: Terminal): void {
  withJson(parent.command('export'))
    .description('Write the store into one file, for "grantor import grantor" in another place.')
    .requiredOption('--to <file>', 'the file')
    .option(
      '--final',
      'first close the store, so that its servers end and nothing writes to it. Only then tokens, sessions and keys stay valid in the new place',
    )
    .action(async ({ to, final, json }: ExportOptions) => {
      const config = readConfig()
      const plan = { to, keep: undefined, withSecret: false, isFinal: final === true }
      const { path, bytes, rows } = await backUpAsAdministrator(terminal, config, plan)
      if (json) return terminal.printJson({ path, bytes, rows, closed: plan.isFinal })
      terminal.print([
        `Wrote ${path}: ${countRows(rows)} rows, ${Math.ceil(bytes / 1024)} KiB. The root secret is not in it.`,
        ...(plan.isFinal
          ? [
              `${locationOf(config.database)} is closed. Import the file with the same root secret, once, and then delete it.`,
              'To use this store again instead: grantor database reopen',
            ]
          : [
              'An import of it ends all tokens, sessions and keys, because this store continues. To keep them: --final',
            ]),
      ])
    })
}

/** The verbs of `grantor import`: the server that the data comes from. */
export const IMPORT_VERBS: readonly AddVerb[] = [
  (noun, terminal) => {
    withJson(noun.command('grantor'))
      .description(
        'Import a file of "grantor export" into the empty database of DATABASE_URL. Except after --final, what was issued becomes invalid.',
      )
      .argument('<file>', 'the file')
      .action(async (file: string, { json }: { readonly json?: true }) => {
        const { restore } = await import('../../../maintenance/restore.ts')
        const imported = await restore(readConfig(), { from: file, replace: false, isMove: true })
        const { adminToken, ended, location, madeAt, rows } = imported
        if (adminToken !== undefined) return printRestored(terminal, imported, json === true)
        if (json) terminal.printJson({ database: location, made_at: madeAt, rows, tokens_kept: true, ended })
        else terminal.print(importedLines(imported))
      })
  },
]

const KEPT = 'Everything that was issued before is valid, with the same keys and administrators'

function importedLines({ location, madeAt, rows, ended, isUnderPreviousSecret }: Restored): readonly string[] {
  return [
    `The store moved to ${location}: ${countRows(rows)} rows, as they were at ${formatTime(madeAt)} UTC.`,
    ...(ended.length === 0
      ? [`${KEPT}. Start the servers, and delete the file.`]
      : [`${KEPT}, except:`, ...ended.map((one) => `  ${one}`), 'Start the servers, and delete the file.']),
    ...(isUnderPreviousSecret ? ['The store is under the previous root secret. Next, run: grantor secret rotate'] : []),
  ]
}
