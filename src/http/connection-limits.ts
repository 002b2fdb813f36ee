import { readFileSync } from 'node:fs'
import { limitFor } from './shares.ts'

/** What the connections of one listener may hold. */
export interface ConnectionLimits {
  /** Open connections, in all. */
  readonly connections: number
  /** Requests without a whole answer, in all. An answer that the caller does not read counts. */
  readonly unanswered: number
}

/** More connections than these of a network that is alone are of no use to one process, which answers some thousand a second. */
const PUBLIC_CONNECTIONS = limitFor(8000)
const ADMIN_CONNECTIONS = limitFor(800)
const UNANSWERED = limitFor(8000)
/** Files that are no connections of callers: the database's, the log, Node's own. */
const OTHER_FILES = 48
const LEAST_FILES = 16

/**
 * The limits of a listener. Where the process may open few files, the public listener gets seven eighths of them: without a
 * file no connection is accepted, of any network.
 */
export function connectionLimits(listener: 'public' | 'admin', files: number = openFileLimit()): ConnectionLimits {
  const free = Math.max(LEAST_FILES, files - OTHER_FILES)
  const connections =
    listener === 'public'
      ? Math.min(PUBLIC_CONNECTIONS, Math.floor((free * 7) / 8))
      : Math.min(ADMIN_CONNECTIONS, Math.floor(free / 8))
  return { connections, unanswered: UNANSWERED }
}

/** The files that this process may open. Infinity where the system does not tell. */
function openFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}
