import { accessSync, constants, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { makeFolder } from '../files/durable-file.ts'
import { explainDenial } from '../files/guarded-file.ts'
import { writeRootSecret } from '../keys/root-secret.ts'
import type { Context } from '../ports/context.ts'
import { StoreRefusesWrites } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'
import { readBackupHeader } from '../store/backup/read.ts'
import { tablesOf, type Snapshot } from '../store/backup/tables.ts'
import { writeBackup, type BackupHeader, type Written } from '../store/backup/write.ts'
import { prune, removeOldDrafts, SECRET_SUFFIX } from './backup-folder.ts'
import { closeStore, refuseClosedStore } from '../server/closing.ts'
import { readSecretOf } from '../server/store.ts'

export interface BackupPlan {
  /** A file, or a folder that gets a file named by the time. */
  readonly to: string
  /** How many backups stay in the folder; undefined: all. */
  readonly keep: number | undefined
  readonly withSecret: boolean
  /** Whether the store is closed first, and the file gets all of it, so that it can move to another place. */
  readonly isFinal: boolean
}

export interface Backup extends Written {
  readonly path: string
  /** Where the root secret was written; undefined: the backup was made without it. */
  readonly secretPath: string | undefined
  /** Why the store could not record the time of the backup, as on a full disk; undefined: it did. */
  readonly notRecorded: string | undefined
  /** Whether a server noticed that the store went back, and the operator has not answered. */
  readonly wentBack: boolean
  /** Older backups that were removed. */
  readonly removed: readonly string[]
  /** Files in the folder that say that they were made in the future. They are neither counted nor removed. */
  readonly fromFuture: readonly string[]
}

/**
 * Backs up the store, also while servers use it. The backup is one consistent state: everything that was committed before it
 * began. A final one is repeated on a store that is closed already, for example because the disk was full.
 *
 * @throws Error that says what to do
 */
export async function backUp(
  config: Config,
  { store, secrets, clock, version }: Pick<Context, 'store' | 'secrets' | 'clock' | 'version'>,
  { to, keep, withSecret, isFinal }: BackupPlan,
): Promise<Backup> {
  const madeAt = clock()
  const { isMarked: wentBack } = await store.findStorePlace(undefined)
  if (isFinal && wentBack) {
    throw new Error(
      'The store went back. Answer first: grantor restore --in-place, or grantor restore --nothing-lost. Nothing was written.',
    )
  }
  const folder = atTarget(to, () => folderOf(to))
  const path = folder === undefined ? to : join(folder, `grantor-${stampOf(madeAt)}.backup`)
  atTarget(path, () => refuseOtherFile(path))
  if (withSecret) atTarget(path, () => refuseOpenFolder(dirname(path)))
  if (isFinal) {
    // A path that cannot be written must not close the store.
    atTarget(path, () => accessSync(dirname(path), constants.W_OK))
    await closeStore(config, store, madeAt)
  } else await refuseClosedStore(store)
  const snapshot = withSnapshot(config, async ({ schema, schemaDigest, issuer, masterKey, slices }) => {
    const made_at = new Date(madeAt).toISOString()
    const { wrapped = null, check = '' } = masterKey
    const keys = { master_key: wrapped, secret_check: check }
    const head = {
      schema,
      schema_digest: schemaDigest,
      issuer: issuer ?? config.issuer,
      made_at,
      ...keys,
      release: version,
    }
    const first: BackupHeader = { format: 'grantor-backup', version: 1, ...head, ...(isFinal && { final: true }) }
    const authenticate = (sha256: string) => secrets.digest('backup', [sha256])
    const rootSecret = withSecret ? readSecretOf(config, masterKey) : undefined
    const writing = writeBackup(path, first, slices(tablesOf(first)), authenticate)
    const result = await writing.catch((cause: unknown) => refuseTarget(path, cause))
    return { header: first, written: result, secret: rootSecret }
  })
  const { header, written, secret } = await (isFinal ? snapshot.catch(refuseFinal) : snapshot)
  const secretPath = secret === undefined ? undefined : writeSecretBeside(path, secret)
  const notRecorded = isFinal ? undefined : await recordBackup(store, madeAt)
  removeOldDrafts(path, folder, clock())
  const pruned =
    folder === undefined || keep === undefined
      ? { removed: [], fromFuture: [] }
      : prune(folder, { name: basename(path), header }, keep, clock())
  return { ...written, path, secretPath, notRecorded, wentBack, ...pruned }
}

/** A store that can only be read is backed up as well. */
async function recordBackup(store: Pick<Context['store'], 'replaceSetting'>, madeAt: EpochMs) {
  try {
    await store.replaceSetting({ name: 'last-backup', value: String(madeAt) })
    return undefined
  } catch (cause) {
    if (cause instanceof StoreRefusesWrites) return cause.message
    throw cause
  }
}

function writeSecretBeside(path: string, secret: string): string {
  const secretPath = path + SECRET_SUFFIX
  rmSync(secretPath, { force: true })
  writeRootSecret(secretPath, secret)
  return secretPath
}

function atTarget<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    return refuseTarget(path, cause)
  }
}

/** System calls on files. Others are those of the connection to the database. */
const FILE_CALLS: readonly string[] = ['access', 'close', 'fsync', 'mkdir', 'open', 'rename', 'stat', 'write']

/** Throws the error, with the path and what to do if the path cannot be written. */
function refuseTarget(path: string, cause: unknown): never {
  const { code = '', syscall = '', message = '' } = cause as Partial<NodeJS.ErrnoException>
  throw FILE_CALLS.includes(syscall)
    ? new Error(`${path} could not be written: ${adviceFor(path, code) ?? `${message}.`}`, { cause })
    : cause
}

function refuseFinal(cause: unknown): never {
  throw new Error(
    `${(cause as Error).message} The store is closed. Run this command again; or use the store as before: grantor database reopen --not-imported`,
    { cause },
  )
}

function adviceFor(path: string, code: string): string | undefined {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `${explainDenial(path)}. Or name another folder with --to.`
    case 'EROFS':
      return 'its file system is read-only. Name another folder with --to; a service of systemd also needs the folder in ReadWritePaths=.'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'there is no space left on its disk. Free some space, or name another folder with --to.'
    case 'ENOENT':
      return `there is no folder ${dirname(path)}. Create it with the mode 0700. A folder that --to names with a / at its end is created.`
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of the path is a file and not a folder. Correct --to.'
    default:
      return undefined
  }
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
  if (to.endsWith('/')) makeFolder(to)
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
