/** Why a store accepts no writes, which ends by an action of the operator. */
export type WriteFault =
  | 'disk_full'
  | 'disk_read_only'
  | 'disk_failed'
  | 'store_read_only'
  | 'store_locked'
  | 'commits_wait'
  | 'commits_hang'

/** The sentence of each. */
export const WRITE_FAULT_TEXTS: Readonly<Record<WriteFault, string>> = {
  disk_full: 'The disk of the database is full.',
  disk_read_only: 'The disk of the database is read-only.',
  disk_failed: 'The disk of the database fails. See the log of the system.',
  store_read_only: 'The database accepts no writes: it is a standby, or read-only.',
  store_locked: 'Another session or process holds a lock that writes wait for.',
  commits_wait: 'Commits wait for a synchronous standby that does not answer.',
  commits_hang: 'The database can be read, and its commits do not end.',
}

/** What an operator does about each. */
export const WRITE_FAULT_REMEDIES: Readonly<Record<WriteFault, string>> = {
  disk_full: 'Free some space. Meanwhile commands that only read work, and "grantor backup" can write to another disk.',
  disk_read_only: 'See the log of the system, and mount the disk for writing.',
  disk_failed: 'Meanwhile commands that only read may work, and "grantor backup" can write to another disk.',
  store_read_only:
    'DATABASE_URL must name the server that accepts writes, and default_transaction_read_only must be off.',
  store_locked:
    'End the transaction that holds it. PostgreSQL lists them in pg_locks; with SQLite it is a program that has the file open.',
  commits_wait: 'Start the standby, or take it out of synchronous_standby_names.',
  commits_hang:
    'See the log of the database and of its machine: a disk, a worker of Citus, or a standby of one does not answer.',
}

export function isWriteFault(reason: string | undefined): reason is WriteFault {
  return reason !== undefined && Object.hasOwn(WRITE_FAULT_TEXTS, reason)
}
