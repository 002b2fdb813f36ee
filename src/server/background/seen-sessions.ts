import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { EventFields } from '../../protocol/audit/event-names.ts'
import type { SessionId } from '../../protocol/ids.ts'

const FLUSH_INTERVAL_MS = 10_000
/** Sessions that wait to be written. The times of further ones are recorded with their next page. */
const WAITING_LIMIT = 10_000
/** Sessions that are written at once. */
const SLICE = 256

/** Collects when sessions were seen, and writes the times some seconds later, so that no page waits for the store. */
export interface SeenSessions extends Pick<Context, 'sessionSeen'> {
  /** Writes what was collected. Never fails: failures are logged, and the next page of the session is another attempt. */
  readonly flush: () => Promise<void>
}

interface Dependencies extends StoreNeeds<'noteSessions'> {
  readonly logger: Readonly<Record<'warn', (fields: EventFields) => void>>
}

export function openSeenSessions({ store, logger }: Dependencies): SeenSessions {
  let waiting = new Map<SessionId, EpochMs>()
  return {
    sessionSeen(id, at) {
      if (waiting.has(id) || waiting.size < WAITING_LIMIT) waiting.set(id, at)
    },
    async flush() {
      const sessions = [...waiting].map(([id, at]) => ({ id, at }))
      waiting = new Map()
      try {
        for (let start = 0; start < sessions.length; start += SLICE)
          await store.noteSessions(sessions.slice(start, start + SLICE))
      } catch (cause) {
        logger.warn({ event: 'store.unavailable', err: cause })
      }
    },
  }
}

/** Writes at intervals. Returns the function that stops this, after the last write. */
export function startNotingSessions({ flush }: SeenSessions): () => Promise<void> {
  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS).unref()
  return () => {
    clearInterval(timer)
    return flush()
  }
}
