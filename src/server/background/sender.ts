import type { Context } from '../../ports/context.ts'
import type { Log } from '../log.ts'

/** Sends what waits in the store: the notices of logouts, and mails. */
export interface Sender {
  /** Starts to send what is due. Returns when all that could be started is started. Never rejects. */
  readonly round: () => Promise<void>
  /** Resolves when nothing is being sent. */
  readonly idle: () => Promise<void>
  /** Ends what is under way. Another node sends it, or this one after its next start. */
  readonly close: () => Promise<void>
}

/** What a sender does with the rows of the store. */
interface Work {
  /** Starts to send what is due. */
  readonly startDue: () => Promise<void>
  /** What is being sent. */
  readonly underWay: () => Iterable<Promise<void>>
}

/** How often the node that holds the lease looks for what is due. */
const POLL_MS = 1000

/**
 * Opens a sender. It looks for what is due once at a time, and not while the clock of the node differs. If the store is unavailable, the
 * next round looks again. `end` ends the requests that are under way.
 */
export function openSender(
  { clockCheck }: Pick<Context, 'clockCheck'>,
  logger: Pick<Log, 'warn'>,
  end: AbortController,
  { startDue, underWay }: Work,
): Sender {
  let starting: Promise<void> | undefined

  async function idle(): Promise<void> {
    const work = [...(starting === undefined ? [] : [starting]), ...underWay()]
    if (work.length === 0) return
    await Promise.all(work)
    await idle()
  }

  return {
    async round() {
      if (end.signal.aborted || clockCheck.differenceMs() !== 0) return
      starting ??= startDue()
        .catch((cause: unknown) => logger.warn({ event: 'store.unavailable', err: cause }))
        .finally(() => (starting = undefined))
      await starting
    },
    idle,
    close() {
      end.abort()
      return idle()
    },
  }
}

/** Sends at intervals, on the node that holds the lease. Returns the function that stops this. */
export function startSending({ round, close }: Sender, isHolder: () => boolean): () => Promise<void> {
  const timer = setInterval(() => void (isHolder() && round()), POLL_MS).unref()
  return () => {
    clearInterval(timer)
    return close()
  }
}
