import pg from 'pg'
import { StoreClosed, StoreRefusesWrites, StoreUnavailable } from '../../../ports/store.ts'
import type { WriteFault } from '../../../base/write-fault.ts'

/** Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */

/** Another transaction won the conflict. */
const CONFLICTS: readonly string[] = ['40001', '40P01']
/**
 * Only this connection fails: it became read-only before the database was opened for writing again, or lost its prepared
 * statements.
 */
const STALE: readonly string[] = ['25006', '26000', '42P05']
/** Faults that end all writes until an operator acts. A damaged index or too little memory concerns some statements only. */
const WRITE_FAULTS: Readonly<Record<string, WriteFault>> = {
  '25006': 'store_read_only',
  '53100': 'disk_full',
  '58030': 'disk_failed',
}
/**
 * Connection, unknown login or database, missing privileges, no resources, too complex, wrong state, canceled or shutting down, system and
 * internal errors, and a transaction that idled or ran too long: faults of the database, not of a statement.
 */
const UNAVAILABLE = /^(08|28|3D|42501|53|54|55|57|58|XX|40003|25P03|25P04)/

/**
 * The functions that warn of a commit which succeeded here, but perhaps nowhere else: Citus's, when a machine did not confirm the
 * second phase, and PostgreSQL's, when the wait for the synchronous standby was canceled. Unlike the texts, their names are
 * not translated.
 */
const UNCONFIRMED: readonly string[] = ['FinishRemoteTransactionCommit', 'SyncRepWaitForLSN']

/** Whether another transaction gave the email to a user: the operation then finds it taken, as it does where it comes later. */
function isEmailTaken({ code, constraint }: pg.DatabaseError): boolean {
  return code === '23505' && constraint === 'users_email'
}

/** The cause of a failed statement. Any other error of PostgreSQL is the statement's own fault. */
export type Fault =
  /** Nothing was changed; a retry on this connection may succeed. */
  | 'conflict'
  /** Nothing was changed; a retry on another connection may succeed. */
  | 'stale-connection'
  | 'unavailable'
  | 'refused'

export function checkFault(cause: unknown): Fault {
  if (cause instanceof StoreUnavailable) return 'unavailable'
  if (!(cause instanceof pg.DatabaseError)) return 'refused'
  const { code = '' } = cause
  if (CONFLICTS.includes(code) || isEmailTaken(cause)) return 'conflict'
  if (STALE.includes(code) || isOutdatedPlan(cause)) return 'stale-connection'
  return UNAVAILABLE.test(code) ? 'unavailable' : 'refused'
}

/** Whether a notice says that a commit may be lost, or not visible on all machines. */
export function isUnconfirmedCommit({ routine }: { readonly routine: string | undefined }): boolean {
  return routine !== undefined && UNCONFIRMED.includes(routine)
}

/** A newer release has added a column, which a prepared `select *` would have to return. */
function isOutdatedPlan({ code, routine }: pg.DatabaseError): boolean {
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** The code of the error with which a closed store refuses a write. It belongs to the class "object not in prerequisite state". */
export const CLOSED_CODE = '55G01'

/** Returns the driver's error unchanged if it is PostgreSQL's own. Returns StoreUnavailable if the database is unavailable. */
export function faultOf(cause: unknown): unknown {
  const isAnswer = cause instanceof pg.DatabaseError && checkFault(cause) !== 'unavailable'
  return isAnswer ? cause : unavailable(cause)
}

export function unavailable(cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause
  if (!(cause instanceof pg.DatabaseError)) return new StoreUnavailable('PostgreSQL did not answer', cause)
  if (cause.code === CLOSED_CODE) return new StoreClosed(cause)
  const fault = WRITE_FAULTS[cause.code ?? '']
  return fault === undefined ? new StoreUnavailable('PostgreSQL refused', cause) : new StoreRefusesWrites(fault, cause)
}

/** The error with which PostgreSQL would refuse a write on this connection. It is for a check that writes nothing. */
export function readOnlyConnection(): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('the connection is read-only', 0, 'error'), { code: '25006' })
}

/** Waits for all promises, then returns all values. Throws the first failure: the later ones are only consequences. */
export async function allOrFirstFault<T extends readonly unknown[]>(promises: {
  readonly [Index in keyof T]: Promise<T[Index]>
}): Promise<T> {
  const results = await Promise.allSettled(promises)
  const faults = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const fault = faults.find((cause) => !isFollowUp(cause)) ?? faults[0]
  if (fault !== undefined) throw fault
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as unknown as T
}

/** 25P02: the transaction was aborted by another statement. */
function isFollowUp(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && cause.code === '25P02'
}
