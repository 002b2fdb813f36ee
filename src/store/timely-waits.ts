import { AsyncLocalStorage } from 'node:async_hooks'
import { StoreUnavailable, type Store } from '../ports/store.ts'

/** One limit for all that a request waits for in the store, however many steps it has. */
export interface TimelyWaits {
  /** Runs the work of a request. Work outside of it has no limit but those of the driver. */
  readonly inTime: <Result>(work: () => Result) => Result
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
  /** Ends each wait that is open. */
  readonly open: ((cause: StoreUnavailable) => void)[]
}

/** One timer for all requests costs less than a clock that each wait reads. */
const LOOK_INTERVAL_MS = 100
/** As long as a driver waits for one answer: 4 seconds. */
const LOOK_LIMIT = 40

/** A store whose answers come within milliseconds, or that blocks the process. */
export const UNLIMITED_WAITS: TimelyWaits = { inTime: (work) => work(), within: (ask) => ask() }

export function openTimelyWaits(): TimelyWaits {
  const requests = new AsyncLocalStorage<Waited>()
  const waiting = new Set<Waited>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    for (const waited of waiting) {
      waited.looks += 1
      if (waited.looks < LOOK_LIMIT) continue
      waiting.delete(waited)
      for (const end of waited.open) end(tooLong())
    }
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function limited<Answer>(waited: Waited, ask: () => Promise<Answer>): Promise<Answer> {
    const { open } = waited
    if (waited.looks >= LOOK_LIMIT) return Promise.reject(tooLong())
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        open.splice(open.indexOf(reject), 1)
        if (open.length === 0) waiting.delete(waited)
      }
      if (open.push(reject) === 1) waiting.add(waited)
      timer ??= setInterval(look, LOOK_INTERVAL_MS).unref()
      ask().then(
        (answer) => {
          settle()
          resolve(answer)
        },
        (cause: unknown) => {
          settle()
          reject(cause)
        },
      )
    })
  }

  return {
    inTime: (work) => requests.run({ looks: 0, open: [] }, work),
    within(ask) {
      const waited = requests.getStore()
      return waited === undefined ? ask() : limited(waited, ask)
    },
  }
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
