import { AdminError } from '../../../admin/admin-error.ts'
import { readConfig } from '../../../config/config.ts'
import { locationOf } from '../../../config/database-url.ts'
import { openDistribution } from '../../../server/store.ts'
import { reopenStore } from '../../../server/closing.ts'
import { columns } from '../../lib/columns.ts'
import { parseCount, withJson } from '../../lib/options.ts'
import { withRuntime } from '../../lib/runtime.ts'
import type { AddVerb } from '../../lib/task-verb.ts'
import type { Terminal } from '../../lib/terminal.ts'

/** As many workers can share the rows of a table. Citus's own default. */
const SHARDS = 32
const MEBIBYTE = 1024 * 1024

interface Options {
  readonly dryRun?: true
  readonly shards: number
  readonly json?: true
}

/** The verbs of `grantor database`. */
export const DATABASE_VERBS: readonly AddVerb[] = [
  (noun, terminal) => {
    withJson(noun.command('distribute'))
      .description(
        'Distribute the tables of a PostgreSQL with Citus over the machines of its cluster, while no node runs.',
      )
      .option('--dry-run', 'list what would be done, and change nothing')
      .option('--shards <count>', 'the parts into which each table is divided', parseCount, SHARDS)
      .action((options: Options) => distribute(options, terminal))
  },
  (noun, terminal) => {
    withJson(noun.command('reopen'))
      .description(
        'Use a store again that "grantor export --final" closed. All tokens and sessions from before become invalid.',
      )
      .option('--not-imported', 'keep them valid, because no store has imported the file or will import it')
      .action(async ({ notImported, json }: { readonly notImported?: true; readonly json?: true }) => {
        const config = readConfig()
        const keepsTokens = notImported === true
        await withRuntime(terminal, 'refuse', (context) => reopenStore(config, context, keepsTokens))
        const database = locationOf(config.database)
        if (json) return terminal.printJson({ database, tokens_kept: keepsTokens })
        terminal.print([
          `${database} is open again. Start the servers.`,
          'Delete every copy of the export: an import would make tokens valid that this store revokes from now on.',
          ...(keepsTokens
            ? []
            : [
                'If another store has imported it, stop that store: its changes are not in this database, and both have the same keys.',
              ]),
        ])
      })
  },
]

/** @throws AdminError when the tables cannot be distributed */
async function distribute({ dryRun, shards, json }: Options, terminal: Terminal): Promise<void> {
  const { database } = readConfig()
  if (database.kind !== 'postgres')
    throw new AdminError('Only PostgreSQL with Citus is distributed. This database is a file.')
  const { obstacle, placements, run } = await openDistribution(database.url)
  if (obstacle !== undefined) throw new AdminError(obstacle)
  const planned = placements.filter(({ by }) => by === 'local')
  const bytes = planned.reduce((sum, table) => sum + table.bytes, 0)
  const startedAt = performance.now()
  const tables = dryRun === true ? [] : await run(shards)
  const seconds = (performance.now() - startedAt) / 1000
  if (json) {
    terminal.printJson({ database: locationOf(database), planned, distributed: tables, bytes, shards, seconds })
    return
  }
  const rows = placements.map(({ table, by, wanted }) => [table, wanted, by === 'local' ? 'local' : 'distributed'])
  const size = `${Math.ceil(bytes / MEBIBYTE)} MiB`
  terminal.print([
    ...columns(['TABLE', 'DISTRIBUTED BY', dryRun === true ? 'STATE' : 'STATE BEFORE'], rows, terminal.paint),
    '',
    ...(planned.length === 0
      ? ['All tables are distributed.']
      : dryRun === true
        ? [
            `${planned.length} tables would be distributed into ${shards} shards, in one transaction that copies ${size}.`,
            'Every one of them is locked until the end. Stop all nodes first.',
          ]
        : [`Distributed ${tables.length} tables (${size}) in ${seconds.toFixed(1)} s. Start the nodes again.`]),
  ])
}
