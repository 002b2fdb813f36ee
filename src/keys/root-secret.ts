import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { checkSecretFile } from '../protocol/secret-file.ts'

/** The file beside the database that holds the root secret when the configuration does not set one. */
export function rootSecretPath(databasePath: string): string {
  return join(dirname(databasePath), 'grantor.secret')
}

/**
 * Reads the root secret, or creates it. When several processes start at once, one creates it and all read the same secret.
 * Throws when other users can read the file or own it, or when the file has no valid secret.
 */
export function readRootSecret(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createOnce(path)
  const status = lstatSync(path)
  if (!status.isFile()) throw new Error(`${path} is not a file.`)
  const fault = checkSecretFile(path, status, process.getuid?.(), 'nothing')
  if (fault !== undefined) throw new Error(fault)
  const secret = readFileSync(path, 'utf8').trim()
  if (secret.length < 32)
    throw new Error(`${path} is damaged: it has no secret of at least 32 characters. Restore it from a backup.`)
  return secret
}

function createOnce(path: string): void {
  if (existsSync(path)) return
  // Written to a draft and linked into place: one of several processes wins, and none reads half a secret. The name of the
  // draft is random because a process id is not unique: threads share it, and so may containers on one volume.
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('base64url')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
}
