import type { Command } from 'commander'
import { AdminError } from '../../../admin/admin-error.ts'
import { readConfig } from '../../../config/config.ts'
import { locationOf } from '../../../config/database-url.ts'
import type * as stores from '../../../server/store.ts'
import { columns, formatTime } from '../../lib/columns.ts'
import { withJson } from '../../lib/options.ts'
import { withRuntime } from '../../lib/runtime.ts'
import type { Terminal } from '../../lib/terminal.ts'

type Schema = Awaited<ReturnType<typeof stores.readSchema>>

/** The exit code when migrations are missing. It differs from 1, a failure, and 2, a usage error. */
const MISSING = 3

/** `grantor migrate` */
export function addMigrate(parent: Command, terminal: Terminal): void {
  // Positional: in `migrate status --json` the option belongs to the verb that it follows.
  const migrate = withJson(parent.command('migrate').enablePositionalOptions())
    .description('Apply missing migrations to the database; serve does the same at its start.')
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig()
      const { readSchema } = await import('../../../server/store.ts')
      const before = await readSchema(config)
      if (before.unknown.length > 0) {
        throw new AdminError(
          'The database was migrated by a newer release than this one. Run that release, or restore a backup from before the migration.',
        )
      }
      // Opening the database applies missing migrations.
      await withRuntime(terminal, 'migrate', (context) => context.store.ping())
      const after = before.missing.length === 0 ? before : await readSchema(config)
      const versions = after.applied.map(({ version }) => version)
      const version = versions.at(-1) ?? 0
      const applied = versions.filter((one) => !before.applied.some((note) => note.version === one))
      const database = locationOf(config.database)
      if (json) terminal.printJson({ database, version, applied })
      else if (applied.length === 0) terminal.print([`${database} is up to date (version ${version}).`])
      else terminal.print([`Migrated ${database} to version ${version}.`])
    })
  addMigrateStatus(migrate, terminal)
}

/** `grantor migrate status`: exit code 3 when a migration is missing. */
function addMigrateStatus(parent: Command, terminal: Terminal): void {
  withJson(parent.command('status'))
    .description(
      `List applied and missing migrations, without changing anything. Exit code 0: none is missing; ${MISSING}: some are missing.`,
    )
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ readonly json?: true }>()
      const config = readConfig()
      const { readSchema } = await import('../../../server/store.ts')
      const schema = await readSchema(config)
      const database = locationOf(config.database)
      const isUpToDate = schema.missing.length === 0
      if (json) terminal.printJson({ database, up_to_date: isUpToDate, ...describeSchema(schema) })
      else {
        const headings = ['VERSION', 'NAME', 'STATE', 'APPLIED (UTC)']
        const verdict = isUpToDate ? 'is up to date.' : 'is not up to date. Run: grantor migrate'
        terminal.print([...columns(headings, rowsOf(schema), terminal.paint), '', `${database} ${verdict}`])
      }
      if (!isUpToDate) process.exitCode = MISSING
    })
}

function describeSchema({ applied, missing, unknown }: Schema) {
  const describe = ({ version, name, appliedAt }: Schema['applied'][number]) => ({
    version,
    name,
    applied_at: new Date(appliedAt).toISOString(),
  })
  return {
    applied: applied.filter((one) => !unknown.includes(one)).map(describe),
    missing: missing.map(({ version, name }) => ({ version, name })),
    newer: unknown.map(describe),
  }
}

function rowsOf({ applied, missing, unknown }: Schema): readonly (readonly string[])[] {
  const row = (version: number, ...cells: readonly string[]) => [String(version).padStart(4, '0'), ...cells]
  const state = (one: Schema['applied'][number]): string => (unknown.includes(one) ? 'of a newer release' : 'applied')
  return [
    ...missing.map(({ version, name }) => row(version, name, 'missing', '–')),
    ...applied.map((one) => row(one.version, one.name, state(one), formatTime(new Date(one.appliedAt).toISOString()))),
  ].toSorted(([one = ''], [other = '']) => one.localeCompare(other))
}
