import { setTimeout as delay } from 'node:timers/promises'
import { startRounds, type Rounder } from './sweep-rounds.ts'
import { isIdleSlice, isWholeSlice, sweep, sweepIdleClients, SWEEP_START } from './sweep.ts'
import { asAdministrator, SERVER } from '../../admin/administrators.ts'
import { respellAddresses } from '../../users/spelling.ts'
import type { Log } from '../log.ts'
import type { Context } from '../../ports/context.ts'
import type { ClientId, UserId } from '../../protocol/ids.ts'
import type { SweepPlace } from '../../ports/operations/server.ts'

const SWEEP_INTERVAL_MS = 10_000
/** The pause between two slices. It leaves most of the store's time to requests, and still removes 10,000 rows a second. */
const PAUSE_MS = 20

/** After so many intervals, ten minutes, the search for rows to remove begins at the oldest again: some came later, with an earlier time. */
const INTERVALS_TO_START = 60

/** Removes expired rows and rewrites addresses at intervals, on the node that holds the lease. Returns the function that stops this. */
export function startSweeping(
  context: Context & Pick<Rounder, 'monotonic'>,
  logger: Log,
  isHolder: () => boolean,
): () => void {
  const stopRounds = startRounds(context, logger, isHolder)
  let place: SweepPlace = SWEEP_START
  let intervals = 0
  let clientsAfter: ClientId | undefined
  let addressesAfter: UserId | '' = ''
  let hasSeenAddresses = false
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

  async function removeIdleClients(): Promise<void> {
    let isMore = true
    while (isMore && !end.signal.aborted) {
      const { deleted, next } = await sweepIdleClients(asAdministrator(context, SERVER), clientsAfter)
      clientsAfter = next
      isMore = next !== undefined && isIdleSlice(deleted)
      if (isMore) await delay(PAUSE_MS)
    }
  }

  /** After the start all slices follow each other, later those that had a row to rewrite. */
  async function respellThrough(): Promise<void> {
    let isMore = true
    while (isMore && !end.signal.aborted) {
      const { next, respelled } = await respellAddresses(context, addressesAfter)
      addressesAfter = next
      isMore = next !== '' && (!hasSeenAddresses || respelled > 0)
      if (next === '') hasSeenAddresses = true
      if (isMore) await delay(PAUSE_MS)
    }
  }

  const timer = setInterval(() => {
    if (isSweeping || !isHolder()) return
    isSweeping = true
    intervals += 1
    if (intervals % INTERVALS_TO_START === 0) place = { ...place, removedTo: {} }
    sweepThrough()
      .then(removeIdleClients)
      .then(respellThrough)
      .then(undefined, (cause: unknown) => logger.error({ event: 'store.sweep-failed', err: cause }))
      .finally(() => (isSweeping = false))
  }, SWEEP_INTERVAL_MS).unref()
  return () => {
    end.abort()
    clearInterval(timer)
    stopRounds()
  }
}
