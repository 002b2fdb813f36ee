import { AdminError } from '../../admin/admin-error.ts'
import { ConfigError } from '../../config/config.ts'
import { explainDenial } from '../../files/guarded-file.ts'
import { StoreClosed, StoreRefusesWrites, StoreUnavailable } from '../../ports/store.ts'
import { nameSources } from '../../files/stack.ts'
import { WRITE_FAULT_REMEDIES, WRITE_FAULT_TEXTS, type WriteFault } from '../../base/write-fault.ts'

/** A command with wrong arguments or options. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Advice about a system error, by its code. */
const ADVICE: Readonly<Record<string, (cause: NodeJS.ErrnoException) => string>> = {
  EADDRINUSE: ({ message }) =>
    `${addressOf(message)} is in use by another process. Stop that process, or choose another port with PORT or, for the administration (PORT + 1), GRANTOR_ADMIN_PORT.`,
  EADDRNOTAVAIL: ({ message }) =>
    `${hostOf(message)} is not an address of this machine. Set GRANTOR_HOST, or GRANTOR_ADMIN_HOST, to one that is.`,
  EACCES: (cause) => denied(cause),
  EPERM: (cause) => denied(cause),
  EROFS: ({ path }) =>
    `${path ?? 'The folder'} is on a read-only file system. Mount it for writing, or copy the folder of the database to another disk, and set DATABASE_URL to the copy.`,
  ENOSPC: ({ path }) => `There is no space left on the disk of ${path ?? 'the database'}. Free some space.`,
  EEXIST: (cause) => fileInTheWay(cause),
  ENOTDIR: (cause) => fileInTheWay(cause),
  ENOTFOUND: () => 'The name in GRANTOR_HOST cannot be resolved. Set GRANTOR_HOST to an address of this machine.',
}

/** SQLITE_IOERR_SHMSIZE: the file that processes share while the database is open, 32 KiB, cannot be made. */
const SHARED_FILE_FULL = 4874
const NO_SPACE_TO_OPEN =
  'The disk of the database is so full that the database cannot be opened: not even 64 KiB are free. Free some space; or copy the folder of the database to another disk, and set DATABASE_URL to the copy.'

/** By SQLite's primary result code (https://sqlite.org/rescode.html). */
const SQLITE_ADVICE: Readonly<Record<number, string>> = {
  5: 'The database is locked by another process. Try again, or find the process that holds it.',
  8: 'The database is not writable. Check that this user owns the file and its folder, and that the disk is not read-only.',
  10: 'The disk of the database failed. See the system log.',
  11: 'The database is damaged. Restore it from a backup.',
  13: describeFault('disk_full'),
  14: 'The database cannot be opened. Check that this user may write to the folder of the file that DATABASE_URL names.',
  26: 'The file that DATABASE_URL names is not a SQLite database. Name another file.',
}

/** The message for the operator, with advice. Only a bug is shown with its stack. */
export function describeFailure(cause: unknown): string {
  if (!(cause instanceof Error)) return `Something unexpected happened: ${String(cause)}`
  if (cause instanceof ConfigError) return `${cause.message}\nSee "grantor serve --help" for every setting.`
  if (cause instanceof AdminError || cause instanceof UsageError) return cause.message
  if (cause instanceof StoreClosed) return cause.message
  if (cause instanceof StoreRefusesWrites) return describeFault(cause.fault)
  if (cause instanceof StoreUnavailable) return describeStoreFailure(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  if (code === 'ERR_SQLITE_ERROR') return describeSqliteFailure(cause)
  const advice = code === undefined ? undefined : ADVICE[code]
  if (advice !== undefined) return advice(cause)
  if ('syscall' in cause) return `A system call failed: ${cause.message}. Check DATABASE_URL and GRANTOR_HOST.`
  // The adapters throw plain errors whose messages are written for the operator.
  if (cause.name === 'Error' && code === undefined) return cause.message
  return `This is a bug in Grantor; please report it with these lines.\n${nameSources(cause.stack ?? cause.message)}`
}

function describeFault(fault: WriteFault): string {
  return `${WRITE_FAULT_TEXTS[fault]} ${WRITE_FAULT_REMEDIES[fault]}`
}

function describeStoreFailure(failure: StoreUnavailable): string {
  const { cause } = failure
  if (cause instanceof Error && 'errcode' in cause) return describeSqliteFailure(cause)
  const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : ''
  return `${failure.message}${reason}. Try again.`
}

function describeSqliteFailure(cause: Error): string {
  const code = 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : undefined
  if (code === SHARED_FILE_FULL) return NO_SPACE_TO_OPEN
  const advice = code === undefined ? undefined : SQLITE_ADVICE[code & 0xff]
  return advice === undefined ? `SQLite failed: ${cause.message}.` : advice
}

function denied({ path, syscall, message }: NodeJS.ErrnoException): string {
  if (syscall === 'listen') {
    return `This user may not listen on ${addressOf(message)}. Choose a PORT of 1024 or more.`
  }
  if (path === undefined) return 'This user may not write to the database. Change its owner.'
  return `This user may not use ${path}: ${explainDenial(path)}`
}

function fileInTheWay({ path }: NodeJS.ErrnoException): string {
  return `A part of the path ${path ?? ''} is a file, not a folder. Correct DATABASE_URL.`
}

/** The host in a message such as `listen EADDRINUSE: address already in use ::1:3000`. */
function hostOf(message: string): string {
  return (message.split(' ').at(-1) ?? '').replace(/:\d+$/, '')
}

function addressOf(message: string): string {
  const address = message.split(' ').at(-1) ?? ''
  const port = /:(\d+)$/.exec(address)?.[1]
  return port === undefined ? `The address ${address}` : `Port ${port}`
}
