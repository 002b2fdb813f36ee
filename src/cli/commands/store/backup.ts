import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { asAdministrator, COMMAND_LINE } from '../../../admin/administrators.ts'
import { readConfig, type Config } from '../../../config/config.ts'
import type { Backup, BackupPlan } from '../../../maintenance/backup.ts'
import { countRows } from '../../lib/columns.ts'
import { UsageError } from '../../lib/failure.ts'
import { parseCount, withJson } from '../../lib/options.ts'
import { withRuntime } from '../../lib/runtime.ts'
import type { Terminal } from '../../lib/terminal.ts'

interface BackupOptions {
  readonly to: string
  readonly keep?: number
  readonly withSecret?: true
  readonly json?: true
}

/** `grantor backup` */
export function addBackup(parent: Command, terminal: Terminal): void {
  withJson(parent.command('backup'))
    .description('Back up the store into one file. Servers may keep running. "grantor restore" reads the file.')
    .requiredOption('--to <path>', 'the file, or a folder in which a file named by the time is created')
    .option('--keep <count>', 'keep only this many of the newest backups in the folder', parseCount)
    .option('--with-secret', 'also write the root secret, into a file beside the backup; only in a folder of mode 0700')
    .action(async ({ to, keep, withSecret, json }: BackupOptions) => {
      if (keep !== undefined && !isFolder(to))
        throw new UsageError('--keep needs a folder. Write --to with a / at its end.')
      terminal.giveWay()
      const plan: BackupPlan = { to, keep, withSecret: withSecret === true, isFinal: false }
      const backup = await backUpAsAdministrator(terminal, readConfig(), plan)
      const { path, secretPath, bytes, rows, notRecorded, removed, fromFuture, wentBack } = backup
      if (json) {
        const names = { recorded: notRecorded === undefined, removed, from_future: fromFuture }
        return terminal.printJson({ path, secret_path: secretPath ?? null, bytes, rows, ...names })
      }
      terminal.print([
        `Wrote ${path}: ${countRows(rows)} rows, ${Math.ceil(bytes / 1024)} KiB.`,
        ...(notRecorded === undefined ? [] : [`Warning: ${notRecorded} The time of this backup is not in the store.`]),
        ...(wentBack ? ['Warning: the store went back, and you have not answered yet. See "grantor doctor".'] : []),
        ...removed.map((name) => `Removed ${name}.`),
        ...fromFuture.map((name) => `Warning: ${name} has a time in the future. It was not counted and not removed.`),
        secretPath === undefined
          ? 'The root secret is not in it. Keep a copy of the secret in another place: without it the backup cannot be restored.'
          : `The root secret is in ${secretPath}. Move it away from the backup.`,
      ])
    })
}

/** Writes the store into a file. The command line is the actor in the audit. */
export async function backUpAsAdministrator(terminal: Terminal, config: Config, plan: BackupPlan): Promise<Backup> {
  const { backUp } = await import('../../../maintenance/backup.ts')
  return withRuntime(terminal, 'refuse', (context) =>
    backUp(config, { ...context, store: asAdministrator(context, COMMAND_LINE).store }, plan),
  )
}

function isFolder(path: string): boolean {
  return path.endsWith('/') || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
