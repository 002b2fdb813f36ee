import type { Command } from 'commander'
import { AdminError } from '../admin/admin-error.ts'
import { inspectStore } from '../build.ts'
import { readConfig } from '../config.ts'
import type { DatabaseInspection } from '../ports/inspection.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, withJson } from './verb.ts'

/** `grantor migrate` */
export function addMigrate(parent: Command, terminal: Terminal): void {
  withJson(parent.command('migrate'))
    .description('Bring the database up to date; serve does the same when it starts.')
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig()
      const before = inspectStore(config).database
      if (before.kind === 'opened' && before.unknownMigrations.length > 0) {
        throw new AdminError(
          'The database was migrated by a newer release than this one. Run that release, or restore the backup from before.',
        )
      }
      // Opening is migrating.
      await inWorkshop((context) => context.store.ping())
      const isUpToDate = before.kind === 'opened' && before.missingMigrations.length === 0
      const versions = appliedIn(isUpToDate ? before : inspectStore(config).database)
      const version = versions.at(-1) ?? 0
      const applied = versions.filter((one) => !appliedIn(before).includes(one))
      if (json) terminal.printJson({ database: config.database.path, version, applied })
      else if (applied.length === 0) terminal.print([`${config.database.path} is up to date (version ${version}).`])
      else terminal.print([`Migrated ${config.database.path} to version ${version}.`])
    })
}

function appliedIn(database: DatabaseInspection): readonly number[] {
  return database.kind === 'opened' ? database.appliedMigrations : []
}
