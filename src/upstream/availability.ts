import { after, type EpochMs } from '../protocol/brand.ts'

/** Which providers do not answer, as this node sees it. */
export interface Availability {
  readonly note: (id: string, isAnswering: boolean) => void
  readonly isDown: (id: string) => boolean
  /** The ids of all that are down. */
  readonly down: () => readonly string[]
  /** Whether a provider that is down is to be tried again now. One caller each 15 seconds gets true. */
  readonly mayTry: (id: string) => boolean
}

interface Failures {
  /** The newest ones in a row. */
  readonly times: readonly EpochMs[]
  readonly tryAgainAt: EpochMs
}

/** This many failures in a row within the time mark a provider as down. */
const FAILURES = 5
const WINDOW_MS = 60_000
const PAUSE_MS = 15_000

export function openAvailability(clock: () => EpochMs): Availability {
  const failures = new Map<string, Failures>()
  const isDown = (id: string): boolean => (failures.get(id)?.times.length ?? 0) >= FAILURES

  return {
    isDown,
    down: () => [...failures.keys()].filter(isDown),
    note(id, isAnswering) {
      if (isAnswering) return void failures.delete(id)
      const now = clock()
      const { times = [] } = failures.get(id) ?? {}
      // A provider that is down stays down until it answers.
      const recent = isDown(id) ? times : [...times.filter((time) => now < after(time, WINDOW_MS)), now]
      failures.set(id, { times: recent, tryAgainAt: after(now, PAUSE_MS) })
    },
    mayTry(id) {
      const known = failures.get(id)
      if (known === undefined || !isDown(id)) return true
      const now = clock()
      if (now < known.tryAgainAt) return false
      failures.set(id, { ...known, tryAgainAt: after(now, PAUSE_MS) })
      return true
    },
  }
}
