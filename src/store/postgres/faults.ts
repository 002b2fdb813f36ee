import pg from 'pg'
import { StoreUnavailable } from '../../ports/store.ts'

/** Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */

/** Lost against another transaction. */
const CONFLICTS: readonly string[] = ['40001', '40P01']
/**
 * Only this connection refuses: it became read-only before the database was opened for writing again, or lost the
 * statements that it had prepared.
 */
const STALE: readonly string[] = ['25006', '26000', '42P05']
/**
 * Connection, no such login or database, no resources, too complex, not in this state, canceled or shutting down, system
 * and internal errors; a transaction that idled or ran too long. The database's fault, not a statement's.
 */
const UNAVAILABLE = /^(08|28|3D|53|54|55|57|58|XX|40003|25P03|25P04)/

/** What a failed statement means. Anything PostgreSQL says beside these is the statement's own fault. */
export type Fault =
  /** Nothing happened; the same again may go well on this connection. */
  | 'conflict'
  /** Nothing happened; the same again may go well on another connection. */
  | 'stale-connection'
  | 'unavailable'
  | 'refused'

export function checkFault(cause: unknown): Fault {
  if (cause instanceof StoreUnavailable) return 'unavailable'
  if (!(cause instanceof pg.DatabaseError)) return 'refused'
  const { code = '' } = cause
  if (CONFLICTS.includes(code)) return 'conflict'
  if (STALE.includes(code) || isOutdatedPlan(cause)) return 'stale-connection'
  return UNAVAILABLE.test(code) ? 'unavailable' : 'refused'
}

/** A newer release has added a column, and a prepared `select *` would answer it. */
function isOutdatedPlan({ code, routine }: pg.DatabaseError): boolean {
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** What the driver threw: PostgreSQL's own words, unless they or their absence mean that it cannot be had. */
export function faultOf(cause: unknown): unknown {
  const isAnswer = cause instanceof pg.DatabaseError && checkFault(cause) !== 'unavailable'
  return isAnswer ? cause : unavailable(cause)
}

export function unavailable(cause: unknown): StoreUnavailable {
  return cause instanceof StoreUnavailable ? cause : new StoreUnavailable('PostgreSQL did not answer', cause)
}

/** Waits for all, then answers all, or throws what went wrong first: what comes after it only says that it did. */
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
