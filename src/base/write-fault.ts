/** Why a store accepts no writes, which ends by an action of the operator. */
export type WriteFault = 'disk_full' | 'disk_read_only' | 'disk_failed' | 'store_read_only'

/** The sentence of each. */
export const WRITE_FAULT_TEXTS: Readonly<Record<WriteFault, string>> = {
  disk_full: 'The disk of the database is full.',
  disk_read_only: 'The disk of the database is read-only.',
  disk_failed: 'The disk of the database fails. See the log of the system.',
  store_read_only: 'The database accepts no writes: it is a standby, or read-only.',
}

/** What an operator does about each. */
export const WRITE_FAULT_REMEDIES: Readonly<Record<WriteFault, string>> = {
  disk_full: 'Free some space. Meanwhile commands that only read work, and "grantor backup" can write to another disk.',
  disk_read_only: 'See the log of the system, and mount the disk for writing.',
  disk_failed: 'Meanwhile commands that only read may work, and "grantor backup" can write to another disk.',
  store_read_only:
    'DATABASE_URL must name the server that accepts writes, and default_transaction_read_only must be off.',
}

export function isWriteFault(reason: string | undefined): reason is WriteFault {
  return reason !== undefined && Object.hasOwn(WRITE_FAULT_TEXTS, reason)
}
