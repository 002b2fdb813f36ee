import type { KindTimes, OverloadRequest } from './overload-order.ts'
import type { Answer } from './slice.ts'
import { quantile } from './statistics.ts'

/** Counts the results of the requests of a load. */
export interface Tally {
  /** Counts an answer. Returns whether the request was served. */
  readonly answered: (request: OverloadRequest, answer: RawAnswer, ms: number) => boolean
  readonly wrong: (reason: string) => void
  /** Ends the counting for the rates. Later answers are too late. */
  readonly end: () => void
  readonly read: (seconds: number) => {
    readonly kinds: readonly KindTimes[]
    readonly wrong: number
    readonly wrongs: readonly string[]
    readonly shed: Answer | undefined
  }
}

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

interface Times {
  readonly request: OverloadRequest
  readonly kind: KindTimes['kind']
  readonly all: number[]
  inTime: number
}

/** The time within which a refusal must arrive. */
const SOON_MS = 50
/** The most wrong answers whose text is kept. */
const DISPLAY_TEXT_LIMIT = 10
const RETRY_AFTER = /\r\nretry-after: *\d+/i
/** Headers that every Node.js server sends automatically. */
const AUTOMATIC = /^(date|connection|keep-alive):/i

export function openTokenCounter(requests: readonly OverloadRequest[]): Tally {
  const served = new Map(requests.map((request) => [request, open(request, 'served')]))
  const refused = new Map(requests.map((request) => [request, open(request, 'shed')]))
  const wrongs: string[] = []
  let wrong = 0
  let isOver = false
  let shed: Answer | undefined

  function addWrong(reason: string): void {
    wrong += 1
    if (wrongs.length < DISPLAY_TEXT_LIMIT) wrongs.push(reason)
  }

  return {
    answered(request, { status, head, body }, ms) {
      const isServed = status === request.status && body.includes(request.contains)
      const isShed = status === 503 && request.maybeShed && RETRY_AFTER.test(head)
      if (isShed) shed ??= parseAnswer({ status, head, body })
      const times = isServed ? served.get(request) : isShed ? refused.get(request) : undefined
      if (times === undefined) addWrong(`${request.name}: ${status} ${body.slice(0, 200)}`)
      else {
        times.all.push(ms)
        if (!isOver) times.inTime += 1
      }
      return isServed
    },
    wrong: addWrong,
    end: () => void (isOver = true),
    read: (seconds) => ({
      kinds: [...served.values(), ...refused.values()]
        .filter(({ all }) => all.length > 0)
        .map((times) => describe(times, seconds)),
      wrong,
      wrongs,
      shed,
    }),
  }
}

function open(request: OverloadRequest, kind: Times['kind']): Times {
  return { request, kind, all: [], inTime: 0 }
}

function describe({ request, kind, all, inTime }: Times, seconds: number): KindTimes {
  return {
    name: request.name,
    kind,
    count: all.length,
    perSecond: inTime / seconds,
    p50Ms: quantile(all, 0.5),
    p99Ms: quantile(all, 0.99),
    worstMs: quantile(all, 1),
    soonShare: all.filter((ms) => ms <= SOON_MS).length / all.length,
  }
}

function parseAnswer({ status, head, body }: RawAnswer): Answer {
  const lines = head.split('\r\n').slice(1)
  const own = lines.filter((line) => !AUTOMATIC.test(line))
  return { status, headers: own.flatMap((line) => line.split(/: *(.*)/, 2)), body }
}
