import { accessSync, closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkSecretFile, closingCommand, describeDenial, othersMayRead } from '../base/secret-file.ts'

/** A file of the operator that may contain secrets. */
export interface GuardedFile {
  readonly text: string
  /** Why the file must not be used: another user owns it, or may change it. */
  readonly fault: string | undefined
  /** Whether other users can read the file, and how serious that is for a secret. */
  readonly exposure: 'none' | 'warning' | 'fault'
  /** The command after which no other user can read it. */
  readonly remedy: string
}

/**
 * Reads a file. It is opened once, so that what is checked is what is read. Links are followed, because Kubernetes mounts
 * secrets as links. A named pipe, on which the process would wait for a writer, is refused.
 *
 * @throws Error if the file cannot be read
 */
export function readGuardedFile(path: string): GuardedFile {
  const file = explained(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw new Error('it is not a regular file')
    return {
      text: readFileSync(file, 'utf8'),
      fault: checkSecretFile(path, status, process.getuid?.(), 'read'),
      exposure: exposureOf(status.mode, () => isMountedReadOnly(path, file)),
      remedy: closingCommand(path, status, process.getuid?.()),
    }
  } finally {
    closeSync(file)
  }
}

/** Calls a function that uses a file. If this process may not, the error says whose file it is. */
export function explained<T>(path: string, use: () => T): T {
  try {
    return use()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause
    throw new Error(explainDenial(path), { cause })
  }
}

/** Explains why this process cannot read or create a file: the file, or its nearest visible parent folder, belongs to another user. */
export function explainDenial(path: string): string {
  for (let place = path; ; place = dirname(place)) {
    try {
      return describeDenial(place, statSync(place), process.getuid?.())
    } catch (cause) {
      if (place === dirname(place)) throw cause
    }
  }
}

/**
 * Containers and systemd pass secrets on read-only mounts, whose modes the operator often cannot choose: there the group may
 * read a file, and a file that everyone may read is only worth a warning.
 */
function exposureOf(mode: number, isReadOnly: () => boolean): GuardedFile['exposure'] {
  if (!othersMayRead({ mode })) return 'none'
  if (!isReadOnly()) return 'fault'
  return (mode & 0o007) === 0 ? 'none' : 'warning'
}

/** Linux reports EROFS only to a user who may write to the file, so the options of the mount are read as well (proc_pid_mountinfo(5)). */
function isMountedReadOnly(path: string, file: number): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EROFS' || mountOptions(file).includes('ro')
  }
}

function mountOptions(file: number): readonly string[] {
  try {
    const mount = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1] ?? 'none'
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return (
      mounts
        .find((line) => line.startsWith(`${mount} `))
        ?.split(' ')[5]
        ?.split(',') ?? []
    )
  } catch {
    // Other systems have no such files.
    return []
  }
}
