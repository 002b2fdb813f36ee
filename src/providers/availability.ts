import { after, type EpochMs } from '../base/brand.ts'

/**
 * Which providers do not answer, as this node sees it. Sign-ins that got no answer only make the server look, because the browser chose
 * values of their requests. What the server then sees with a request of its own decides (threats.md UP-30).
 */
export interface Availability {
  /** A sign-in got no answer. */
  readonly noteFailure: (id: string) => void
  /** The provider authenticated a person. */
  readonly noteSignIn: (id: string) => void
  /** The server tried the provider. */
  readonly noteTry: (id: string, isAnswering: boolean) => void
  readonly isDown: (id: string) => boolean
  /** The ids of all that are down, or whose sign-ins failed so often that they may be. */
  readonly suspects: () => readonly string[]
  /** Whether the server is to try a suspect now. One caller each 15 seconds gets true. */
  readonly mayTry: (id: string) => boolean
}

interface Known {
  /** The newest failures since the last sign-in or try that got an answer. At most FAILURES. */
  readonly failures: readonly EpochMs[]
  readonly isDown: boolean
  readonly tryAgainAt: EpochMs
}

/** This many failures within the time, and no sign-in between them, make the server try the provider. */
const FAILURES = 5
const WINDOW_MS = 60_000
const PAUSE_MS = 15_000
const UNKNOWN: Known = { failures: [], isDown: false, tryAgainAt: 0 as EpochMs }

export function openAvailability(clock: () => EpochMs): Availability {
  const providers = new Map<string, Known>()
  const of = (id: string): Known => providers.get(id) ?? UNKNOWN

  function isSuspect(id: string): boolean {
    const { failures, isDown } = of(id)
    const [oldest] = failures
    return isDown || (failures.length === FAILURES && oldest !== undefined && clock() < after(oldest, WINDOW_MS))
  }

  return {
    isDown: (id) => of(id).isDown,
    suspects: () => [...providers.keys()].filter(isSuspect),
    noteFailure(id) {
      const known = of(id)
      providers.set(id, { ...known, failures: [...known.failures, clock()].slice(-FAILURES) })
    },
    noteSignIn: (id) => void providers.delete(id),
    // The pause stays, so that failures of strangers cause no more requests to a provider that answers.
    noteTry: (id, isAnswering) => void providers.set(id, { ...of(id), failures: [], isDown: !isAnswering }),
    mayTry(id) {
      const known = of(id)
      const now = clock()
      if (!isSuspect(id) || now < known.tryAgainAt) return false
      providers.set(id, { ...known, tryAgainAt: after(now, PAUSE_MS) })
      return true
    },
  }
}
