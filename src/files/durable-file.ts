import { randomBytes } from 'node:crypto'
import { closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** A file that is still being written. It gets its name when its content is on disk. */
export interface Draft {
  readonly path: string
  /** The descriptor of the open file. */
  readonly file: number
}

const RANDOM_BYTES = 8

/**
 * Creates a file beside the one that it becomes, readable by its owner only. Its name is random because a process id is not
 * unique: threads share it, and so may containers on one volume.
 */
export function createDraft(path: string, suffix: string): Draft {
  const draft = `${path}.${randomBytes(RANDOM_BYTES).toString('hex')}${suffix}`
  return { path: draft, file: openSync(draft, 'wx', 0o600) }
}

/** Returns the name that a draft with the suffix would get when it is complete; undefined if the name is not that of a draft. */
export function completeName(name: string, suffix: string): string | undefined {
  const digits = RANDOM_BYTES * 2
  const [, complete] = new RegExp(`^(.+)\\.[0-9a-f]{${digits}}${RegExp.escape(suffix)}$`).exec(name) ?? []
  return complete
}

/** Removes a regular file that was last changed before the time, in milliseconds, such as a draft that a killed process has left. */
export function removeOlder(path: string, changedBefore: number): void {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status?.isFile() === true && status.mtimeMs < changedBefore) rmSync(path, { force: true })
}

/** Creates a folder that only its owner can enter, and those above it that do not exist, and puts their names on disk. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(path); made.length >= resolve(first).length; made = dirname(made)) syncFolder(dirname(made))
}

/** Puts the names of files in a folder on disk, so that renamed files survive a loss of power. Windows refuses it (EPERM), and NTFS logs names itself. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
