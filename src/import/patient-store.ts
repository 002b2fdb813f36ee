import { setTimeout as pause } from 'node:timers/promises'
import type { WriteFault } from '../base/write-fault.ts'
import { StoreClosed, StoreRefusesWrites, StoreUnavailable, type Store } from '../ports/store.ts'

/** How an import waits for a store that is unavailable. */
export interface Patience {
  /** The longest time without an answer of the store. */
  readonly patienceMs: number
  /** Called when an outage begins, and with undefined when it is over. */
  readonly onOutage: (cause: StoreUnavailable | undefined) => void
}

type Call<Answer> = () => Promise<Answer>

/** Calls the store until it answers. */
export type Patient = <Answer>(call: Call<Answer>) => Promise<Answer>

const PAUSE_MS = 500

/**
 * Repeats a call while the store is unavailable. Calls that were made together are repeated one after the other, because together they may have
 * been too much for the time limit of an answer. A call that succeeded without an answer finds, when it is repeated, what it has stored.
 */
export function openPatience({ patienceMs, onOutage }: Patience): Patient {
  let since: number | undefined
  let givenUp: unknown
  let last: Promise<unknown> = Promise.resolve()

  async function persist<Answer>(call: Call<Answer>): Promise<Answer> {
    for (;;) {
      if (givenUp !== undefined) throw givenUp
      try {
        const answer = await call()
        if (since !== undefined) onOutage(undefined)
        since = undefined
        return answer
      } catch (cause) {
        if (!isPassing(cause)) throw cause
        if (since === undefined) onOutage(cause)
        since ??= performance.now()
        if (performance.now() + PAUSE_MS > since + patienceMs) {
          givenUp = cause
          throw cause
        }
      }
      await pause(PAUSE_MS)
    }
  }

  return async (call) => {
    try {
      return await call()
    } catch (cause) {
      if (!isPassing(cause)) throw cause
      const repeated = last.then(() => persist(call))
      last = repeated.catch(() => undefined)
      return repeated
    }
  }
}

/** The store, each call of which is repeated while it is unavailable. */
export function patientStore(store: Store, patient: Patient): Store {
  return Object.fromEntries(
    Object.entries(store).map(([name, member]) => {
      if (typeof member !== 'function') return [name, member]
      const ask = member as (...asked: readonly unknown[]) => Promise<unknown>
      return [name, (...asked: readonly unknown[]) => patient(() => ask(...asked))]
    }),
  ) as unknown as Store
}

const PASSING: readonly WriteFault[] = ['store_read_only', 'store_locked', 'commits_wait', 'commits_hang']

/** A standby that takes over accepts writes after a moment. A full disk and a closed store need an operator. */
function isPassing(cause: unknown): cause is StoreUnavailable {
  if (cause instanceof StoreClosed) return false
  return cause instanceof StoreRefusesWrites ? PASSING.includes(cause.fault) : cause instanceof StoreUnavailable
}
