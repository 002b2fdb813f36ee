import { AsyncLocalStorage } from 'node:async_hooks'
import { StoreUnavailable, type Store } from '../ports/store.ts'

/** One limit for all that a request waits for in the store, however many steps it has. */
export interface TimelyWaits {
  /**
   * Runs the work of a request. Work outside of it has no limit but those of the driver.
   *
   * @throws StoreUnavailable when the request has waited as long as it may. Its work ends with its next step in the store.
   */
  readonly inTime: <Result>(work: () => Promise<Result>) => Promise<Result>
  /**
   * Waits for the store on behalf of the request that is being served. What was asked continues: whether it commits is then unknown.
   *
   * @throws StoreUnavailable
   */
  readonly within: <Answer>(ask: () => Promise<Answer>) => Promise<Answer>
}

/** What a request has waited so far. */
interface Waited {
  /** How often the timer found it waiting. Waits at the same time count once. */
  looks: number
  /** Its waits that have not ended. */
  open: number
  /** Ends the request. */
  readonly end: (cause: StoreUnavailable) => void
  /** What becomes of an answer of the store, and of its fault. A request has both once, because each wait would make them again. */
  readonly pass: <Answer>(answer: Answer) => Answer
  readonly fail: (cause: unknown) => never
}

/** One timer for all requests costs less than a clock that each wait reads. */
const LOOK_INTERVAL_MS = 100
/** As long as a driver waits for one answer: 4 seconds. */
const LOOK_LIMIT = 40

/** A store whose answers come within milliseconds, or that blocks the process. */
export const UNLIMITED_WAITS: TimelyWaits = { inTime: (work) => work(), within: (ask) => ask() }

export function openTimelyWaits(): TimelyWaits {
  const requests = new AsyncLocalStorage<Waited>()
  const running = new Set<Waited>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    for (const waited of running) {
      if (waited.open === 0) continue
      waited.looks += 1
      if (waited.looks === LOOK_LIMIT) waited.end(tooLong())
    }
    if (running.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    inTime: (work) =>
      new Promise((resolve, reject) => {
        const waited = newWaited(reject)
        const answer = requests.run(waited, work)
        running.add(waited)
        timer ??= setInterval(look, LOOK_INTERVAL_MS).unref()
        answer.then(
          (result) => {
            running.delete(waited)
            resolve(result)
          },
          (cause: unknown) => {
            running.delete(waited)
            reject(cause)
          },
        )
      }),
    within(ask) {
      const waited = requests.getStore()
      if (waited === undefined) return ask()
      if (waited.looks >= LOOK_LIMIT) return Promise.reject(tooLong())
      waited.open += 1
      return ask().then(waited.pass, waited.fail)
    },
  }
}

function newWaited(end: Waited['end']): Waited {
  const waited: Waited = {
    looks: 0,
    open: 0,
    end,
    pass(answer) {
      waited.open -= 1
      if (waited.looks >= LOOK_LIMIT) throw tooLong()
      return answer
    },
    fail(cause) {
      waited.open -= 1
      throw cause
    },
  }
  return waited
}

/** The same store, for which a request waits only so long. */
export function timelyStore(store: Store, waits: Pick<TimelyWaits, 'within'>): Store {
  if (waits === UNLIMITED_WAITS) return store
  const { within } = waits
  return Object.fromEntries(
    Object.entries(store).map(([name, member]) => {
      if (typeof member !== 'function' || name === 'doubtsWrites' || name === 'lastOutage') return [name, member]
      const ask = member as (...asked: readonly unknown[]) => Promise<unknown>
      return [name, (...asked: readonly unknown[]) => within(() => ask(...asked))]
    }),
  ) as unknown as Store
}

function tooLong(): StoreUnavailable {
  return new StoreUnavailable('the request has waited for it as long as it may')
}
