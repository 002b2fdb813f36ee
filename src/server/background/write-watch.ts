import type { Log } from '../log.ts'
import type { Sample } from '../../metrics/families.ts'
import { StoreRefusesWrites, type WriteState } from '../../ports/store.ts'

/** Knows whether the store accepts writes, for the log and the metrics, also when /health/ready is never requested. */
export interface WriteWatch {
  readonly sample: () => readonly Sample[]
  /** Begins to check. Returns the function that stops this. */
  readonly start: () => () => void
}

/** How often a store is checked that refused writes, or failed a commit. */
const CHECK_INTERVAL_MS = 1000
/** A store whose commits succeed is checked once in this many intervals. */
const CALM_INTERVALS = 10

export function openWriteWatch(
  { checkWrites, doubtsWrites }: Pick<WriteState, 'checkWrites' | 'doubtsWrites'>,
  logger: Log,
): WriteWatch {
  let isAccepting = true
  let intervals = 0
  let checking: Promise<void> | undefined

  function accepts(): void {
    if (!isAccepting) logger.info({ event: 'store.accepts-writes' })
    isAccepting = true
  }

  function refuses(cause: unknown): void {
    // A store that does not respond is logged with each request that fails.
    if (isAccepting && cause instanceof StoreRefusesWrites) {
      logger.error({ event: 'store.refuses-writes', reason: cause.fault, err: cause })
    }
    isAccepting = false
  }

  function check(): void {
    intervals += 1
    if (isAccepting && !doubtsWrites() && intervals % CALM_INTERVALS !== 1) return
    checking ??= checkWrites()
      .then(accepts, refuses)
      .finally(() => (checking = undefined))
  }

  return {
    sample: () => [{ name: 'grantor_store_accepts_writes', labels: [], value: isAccepting ? 1 : 0 }],
    start() {
      check()
      const timer = setInterval(check, CHECK_INTERVAL_MS).unref()
      return () => clearInterval(timer)
    },
  }
}
