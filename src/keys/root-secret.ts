import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { completeName, createDraft, makeFolder, removeOlder, syncFolder } from '../files/durable-file.ts'
import { explained } from '../files/guarded-file.ts'
import { checkSecretFile } from '../base/secret-file.ts'

/** Writing a draft takes milliseconds. After this time it is what a process that was killed has left. */
const DRAFT_MS = 60_000

/** The file beside the database that holds the root secret when the configuration does not set one. */
export function rootSecretPath(databasePath: string): string {
  return join(dirname(databasePath), 'grantor.secret')
}

/** The file that holds the previous root secret while the secret in `path` replaces it. */
export function previousSecretPath(path: string): string {
  return `${path}.previous`
}

/**
 * Reads the root secret, or creates it. When several processes start at once, one creates it and all read the same secret.
 * Throws when other users can read the file or own it, or when the file has no valid secret.
 */
export function readRootSecret(path: string): string {
  makeFolder(dirname(path))
  writeRootSecret(path, inventSecret())
  removeDrafts(path, Date.now() - DRAFT_MS)
  return readSecretFile(path)
}

/** Reads the previous root secret, if there is one. Throws as `readRootSecret` does. */
export function readPreviousSecret(path: string): string | undefined {
  const previous = previousSecretPath(path)
  return existsSync(previous) ? readSecretFile(previous) : undefined
}

/** Puts a new secret into the file, and the secret that was there into the file of the previous one. Returns the new secret. */
export function renewRootSecret(path: string): string {
  // In this order, so that a process that is killed between the two leaves the old secret in both.
  renameSync(writeDraft(path, readSecretFile(path)), previousSecretPath(path))
  return replacePendingSecret(path)
}

/** Puts a new secret into the file. The file of the previous one, which opens the database, stays. Returns the new secret. */
export function replacePendingSecret(path: string): string {
  const secret = inventSecret()
  renameSync(writeDraft(path, secret), path)
  syncFolder(dirname(path))
  return secret
}

/** Removes the file of the previous root secret, and drafts that a killed process has left. */
export function removePreviousSecret(path: string): void {
  rmSync(previousSecretPath(path), { force: true })
  removeDrafts(path, Number.POSITIVE_INFINITY)
}

/** Each has a secret that only its owner can read. What this process may not remove is left: a start needs only the secret itself. */
function removeDrafts(path: string, changedBefore: number): void {
  const folder = dirname(path)
  try {
    for (const name of readdirSync(folder))
      if (completeName(name, '') === basename(path)) removeOlder(join(folder, name), changedBefore)
  } catch {
    return
  }
}

/** The file is opened once, so that what is checked is what is read, and a link or a pipe is not followed. */
function readSecretFile(path: string): string {
  const file = openSecretFile(path)
  let secret: string
  try {
    const fault = checkSecretFile(path, fstatSync(file), process.getuid?.(), 'nothing')
    if (fault !== undefined) throw new Error(fault)
    secret = readFileSync(file, 'utf8').trim()
  } finally {
    closeSync(file)
  }
  if (secret.length < 32)
    throw new Error(`${path} is damaged: it has no secret of at least 32 characters. Restore it from a backup.`)
  return secret
}

function openSecretFile(path: string): number {
  if (!lstatSync(path).isFile()) throw new Error(`${path} is not a file.`)
  return explained(path, () => openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
}

/**
 * Writes a root secret into a file that only its owner can read, unless the file exists. Its name is on disk at the end: what is stored next
 * can be read only with it.
 */
export function writeRootSecret(path: string, secret: string): void {
  // Without a draft, a kill leaves none.
  if (existsSync(path)) return
  // Written to a draft and linked into place: one of several processes wins, and none reads half a secret.
  const draft = writeDraft(path, secret)
  try {
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

function inventSecret(): string {
  return randomBytes(32).toString('base64url')
}

function writeDraft(path: string, secret: string): string {
  const draft = createDraft(path, '')
  try {
    writeSync(draft.file, `${secret}\n`)
    fsyncSync(draft.file)
  } finally {
    closeSync(draft.file)
  }
  return draft.path
}
