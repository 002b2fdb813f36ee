import { readFileSync } from 'node:fs'
import { limitFor } from '../base/shares.ts'

/** The limits on the connections of one listener. */
export interface ConnectionLimits {
  /** Open connections of all networks. */
  readonly connections: number
  /**
   * Requests of all networks whose answers have not been sent completely, including answers that the caller does not read.
   */
  readonly unanswered: number
  /**
   * The same where the server is that of another program, which does not say when an answer is sent: the requests that have no answer yet.
   */
  readonly foreign: number
}

/** The timeouts of a server, in milliseconds. They limit how long a slow request may hold a connection (threats.md NET-03). */
export const TIMEOUTS = {
  requestTimeout: 30_000,
  headersTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}
/** Connections of a single network. One process answers some thousand requests a second, so more would be useless. */
const PUBLIC_CONNECTIONS = limitFor(8000)
const ADMIN_CONNECTIONS = limitFor(800)
const UNANSWERED = limitFor(8000)
/** A request of Fetch takes three times the memory of another one. */
const FOREIGN = limitFor(2000)
/** Open files other than connections of callers: those of the database, the log and Node.js. */
const OTHER_FILES = 48
const LEAST_FILES = 16

/**
 * The limits of a listener. Each connection needs an open file. Where the process may open few files, the public listener
 * gets seven eighths of them: when none is left, no connection of any network is accepted.
 */
export function connectionLimits(listener: 'public' | 'admin', files: number = openFileLimit()): ConnectionLimits {
  const free = Math.max(LEAST_FILES, files - OTHER_FILES)
  const connections =
    listener === 'public'
      ? Math.min(PUBLIC_CONNECTIONS, Math.floor((free * 7) / 8))
      : Math.min(ADMIN_CONNECTIONS, Math.floor(free / 8))
  return { connections, unanswered: UNANSWERED, foreign: FOREIGN }
}

/** The number of files that this process may open. Infinity where the system does not report it. */
function openFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}
