import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { writeRootSecret } from '../keys/root-secret.ts'
import type { Context } from '../ports/context.ts'
import { readBackupHeader } from '../store/backup/read.ts'
import type { Snapshot } from '../store/backup/tables.ts'
import { PARTIAL, writeBackup, type Written } from '../store/backup/write.ts'
import { readSecretOf } from './store.ts'

export interface BackupPlan {
  /** A file, or a folder that gets a file named by the time. */
  readonly to: string
  /** How many backups stay in the folder; undefined: all. */
  readonly keep: number | undefined
  readonly withSecret: boolean
}

export interface Backup extends Written {
  readonly path: string
  /** Where the root secret was written; undefined: the backup was made without it. */
  readonly secretPath: string | undefined
  /** Older backups that were removed. */
  readonly removed: readonly string[]
}

const NAME = /^grantor-\d{8}T\d{9}Z\.backup$/
/** The root secret beside a backup. */
export const SECRET_SUFFIX = '.secret'

/**
 * Backs up the store, also while servers use it. The backup is one consistent state: everything that was committed before it
 * began.
 *
 * @throws Error that says what to do
 */
export async function backUp(
  config: Config,
  { store, secrets, clock, version }: Pick<Context, 'store' | 'secrets' | 'clock' | 'version'>,
  { to, keep, withSecret }: BackupPlan,
): Promise<Backup> {
  const madeAt = clock()
  const folder = folderOf(to)
  const path = folder === undefined ? to : join(folder, `grantor-${stampOf(madeAt)}.backup`)
  refuseOtherFile(path)
  if (withSecret) refuseOpenFolder(dirname(path))
  const written = await withSnapshot(config, ({ schema, issuer, masterKey, slices }) => {
    const made_at = new Date(madeAt).toISOString()
    const { wrapped = null, check = '' } = masterKey
    const keys = { master_key: wrapped, secret_check: check }
    const header = { schema, issuer: issuer ?? config.issuer, made_at, ...keys, release: version }
    return writeBackup(path, { format: 'grantor-backup', version: 1, ...header }, slices, (sha256) =>
      secrets.digest('backup', [sha256]),
    )
  })
  const secretPath = withSecret ? path + SECRET_SUFFIX : undefined
  if (secretPath !== undefined) {
    rmSync(secretPath, { force: true })
    const { master_key: wrapped, secret_check: check } = readBackupHeader(path) ?? {}
    writeRootSecret(secretPath, readSecretOf(config, { wrapped: wrapped ?? undefined, check }))
  }
  await store.replaceSetting({ name: 'last-backup', value: String(madeAt) })
  return { ...written, path, secretPath, removed: folder === undefined ? [] : prune(folder, basename(path), keep) }
}

/** The names of the backups in a folder, oldest first. */
export function listBackups(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .toSorted()
}

async function withSnapshot<T>({ database }: Config, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  if (database.kind === 'postgres') {
    const { withPostgresSnapshot } = await import('../store/postgres/snapshot.ts')
    return withPostgresSnapshot(database.url, work)
  }
  const { withSqliteSnapshot } = await import('../store/sqlite/snapshot.ts')
  return withSqliteSnapshot(database.path, work)
}

/** Returns the folder that `to` names; undefined if it names a file. A name that ends in a slash is a folder that is created. */
function folderOf(to: string): string | undefined {
  if (to.endsWith('/')) mkdirSync(to, { recursive: true, mode: 0o700 })
  return statSync(to, { throwIfNoEntry: false })?.isDirectory() === true ? to : undefined
}

/** As 20260131T235959000Z, so that names are ordered by time. */
function stampOf(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:.]/g, '')
}

/** A mistyped path must not replace another file, for example the database. */
function refuseOtherFile(path: string): void {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined || (status.isFile() && readBackupHeader(path) !== undefined)) return
  throw new Error(`${path} exists and is not a backup. Name another file, or a folder.`)
}

function refuseOpenFolder(folder: string): void {
  if ((statSync(folder).mode & 0o077) === 0) return
  throw new Error(
    `Other users may look into ${folder}, where the root secret would be written. Run: chmod 700 ${folder}`,
  )
}

/** Removes all but the newest backups, with their secrets, and what earlier backups that were killed have left. */
function prune(folder: string, newest: string, keep: number | undefined): readonly string[] {
  const names = listBackups(folder)
  const removed = keep === undefined ? [] : names.slice(0, Math.max(names.length - keep, 0))
  for (const name of removed) {
    rmSync(join(folder, name))
    rmSync(join(folder, name + SECRET_SUFFIX), { force: true })
  }
  for (const name of readdirSync(folder)) {
    const isLeft = name.endsWith(PARTIAL) && NAME.test(name.slice(0, -PARTIAL.length)) && name < newest
    if (isLeft) rmSync(join(folder, name), { force: true })
  }
  return removed
}
