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

/** The file beside the database that holds the root secret when the environment does not. */
export function rootSecretPath(databasePath: string): string {
  return join(dirname(databasePath), 'grantor.secret')
}

/**
 * Reads the root secret, or makes it. Of several processes that start at once, one makes it and all read the same.
 * Throws when others could read it or made it, or it is no secret.
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
  // Written aside and linked into place: of many starts one wins, and none reads half a secret. The name is random
  // because a process id is not one's own: threads share it, and so do containers on one volume.
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
