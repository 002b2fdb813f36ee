import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { completeName, removeOlder } from '../files/durable-file.ts'
import { readBackupHeader } from '../store/backup/read.ts'
import { draftOf, type BackupHeader } from '../store/backup/write.ts'

/** A folder with the backups of one store or several. */

const NAME = /^grantor-\d{8}T\d{9}Z\.backup$/
/** After this time a draft is what a backup that was killed has left. */
const DRAFT_MS = 24 * 60 * 60 * 1000
/** The root secret beside a backup. */
export const SECRET_SUFFIX = '.secret'

/** The names of the backups in a folder, oldest first. */
export function listBackups(folder: string): readonly string[] {
  return findBackups(folder).map(({ name }) => name)
}

interface Found {
  readonly name: string
  readonly header: BackupHeader
}

/** The regular files in a folder that have the name and the header of a backup, oldest first. */
function findBackups(folder: string): readonly Found[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .flatMap((name) => {
      const header = headerOf(join(folder, name))
      return header === undefined ? [] : [{ name, header }]
    })
    .toSorted((one, other) => madeAtOf(one) - madeAtOf(other))
}

/** Returns undefined also for a file that this process cannot read, or that a newer release made. */
function headerOf(path: string): BackupHeader | undefined {
  try {
    return isRegularFile(path) ? readBackupHeader(path) : undefined
  } catch {
    return undefined
  }
}

function madeAtOf({ header }: Found): number {
  return Date.parse(header.made_at)
}

/** Removes all but the newest backups of this store, with their secrets. The backup that was just made is always kept. */
export function prune(
  folder: string,
  made: Found,
  keep: number,
  now: number,
): { readonly removed: readonly string[]; readonly fromFuture: readonly string[] } {
  const others = findBackups(folder).filter(
    ({ name, header }) => name !== made.name && isSameStore(header, made.header),
  )
  const fromFuture = others.filter((one) => madeAtOf(one) > now).map(({ name }) => name)
  const older = others.filter((one) => madeAtOf(one) <= now).map(({ name }) => name)
  const removed = older.slice(0, Math.max(older.length + 1 - keep, 0))
  for (const name of removed) {
    removeFile(join(folder, name))
    removeFile(join(folder, name + SECRET_SUFFIX))
  }
  return { removed, fromFuture }
}

/** Several stores may have one folder. Two with the same issuer, for example two on localhost, have other master keys. */
function isSameStore(one: BackupHeader, other: BackupHeader): boolean {
  return one.issuer === other.issuer && one.secret_check === other.secret_check
}

/** Removes what earlier backups that were killed have left, also of their secrets, but no draft that another process may be writing. */
export function removeOldDrafts(path: string, folder: string | undefined, now: number): void {
  for (const name of readdirSync(dirname(path))) {
    const complete = draftOf(name) ?? /^(.+)\.secret$/.exec(completeName(name, '') ?? '')?.[1]
    if (complete !== basename(path) && (folder === undefined || !NAME.test(complete ?? ''))) continue
    removeOlder(join(dirname(path), name), now - DRAFT_MS)
  }
}

function removeFile(path: string): void {
  if (isRegularFile(path)) rmSync(path, { force: true })
}

function isRegularFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}
