import type { Command } from 'commander'
import { AdminError } from '../admin/admin-error.ts'
import { readConfig } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import { readSchema } from '../server/store.ts'
import { addMigrateStatus } from './migrate-status.ts'
import type { Terminal } from './terminal.ts'
import { withRuntime, withJson } from './verb.ts'

/** `grantor migrate` */
export function addMigrate(parent: Command, terminal: Terminal): void {
  // Positional: in `migrate status --json` the option belongs to the verb that it follows.
  const migrate = withJson(parent.command('migrate').enablePositionalOptions())
    .description('Bring the database up to date; serve does the same when it starts.')
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig()
      const before = await readSchema(config)
      if (before.unknown.length > 0) {
        throw new AdminError(
          'The database was migrated by a newer release than this one. Run that release, or restore the backup from before.',
        )
      }
      // Opening is migrating.
      await withRuntime(terminal, 'create', (context) => context.store.ping())
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
