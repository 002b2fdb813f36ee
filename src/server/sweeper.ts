import { setTimeout as delay } from 'node:timers/promises'
import { isWholeSlice, sweep, SWEEP_START } from '../admin/sweep.ts'
import type { Log } from './log.ts'
import type { Context } from '../ports/context.ts'
import type { SweepPlace } from '../ports/operation-inputs.ts'

const SWEEP_INTERVAL_MS = 10_000
/** Between two slices when there is more: most of the store's time is for requests, and 10,000 rows a second can go. */
const PAUSE_MS = 20

/** Removes what expired as time goes on. Answers how to stop. */
export function startSweeping(context: Context, logger: Log): () => void {
  let place: SweepPlace = SWEEP_START
  let isSweeping = false
  const end = new AbortController()

  async function sweepThrough(): Promise<void> {
    let isMore = true
    while (isMore && !end.signal.aborted) {
      const swept = await sweep(context, place)
      place = swept
      logger.debug({ event: 'store.swept', ...swept })
      isMore = isWholeSlice(swept)
      if (isMore) await delay(PAUSE_MS)
    }
  }

  const timer = setInterval(() => {
    if (isSweeping) return
    isSweeping = true
    sweepThrough()
      .then(undefined, (cause: unknown) => logger.error({ event: 'store.sweep-failed', err: cause }))
      .finally(() => (isSweeping = false))
  }, SWEEP_INTERVAL_MS)
  return () => {
    end.abort()
    clearInterval(timer)
  }
}
