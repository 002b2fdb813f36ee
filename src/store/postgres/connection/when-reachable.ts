import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const PAUSE_MS = 500

/**
 * Opens something that needs PostgreSQL, and retries for a while if the server cannot be reached: after a power failure the
 * nodes may be up first. An error that the server reports about this client, such as a wrong password, is thrown at once.
 */
export async function whenReachable<T>(
  patienceMs: number,
  open: () => Promise<T>,
  onWaiting: (cause: unknown) => void,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return await open()
    } catch (cause) {
      if (!isAbsent(cause) || performance.now() + PAUSE_MS > deadline) throw cause
      onWaiting(cause)
    }
    await delay(PAUSE_MS)
  }
}

/**
 * Whether a retry may succeed: no server listens, the connection broke, or the server is starting, stopping or full. A wrong
 * host name is not retried.
 */
function isAbsent(cause: unknown): boolean {
  if (cause instanceof pg.DatabaseError) return ['57P01', '57P02', '57P03', '53300'].includes(cause.code ?? '')
  if (cause instanceof AggregateError) return cause.errors.every(isAbsent)
  if (!(cause instanceof Error)) return false
  if ('syscall' in cause) return ['connect', 'read', 'write'].includes(String(cause.syscall))
  return /^Connection terminated|^timeout expired/.test(cause.message) || isAbsent(cause.cause)
}
