import { summarizeTimes } from '../../tools/statistics.ts'
import { ownHeaders, type Answer } from '../load/slice.ts'
import type { KindTimes, OverloadRequest, OverloadResult } from './plan.ts'

/** Counts the results of the requests of a load. */
export interface Counts {
  readonly addAnswer: (request: OverloadRequest, answer: RawAnswer, ms: number) => void
  readonly addWrong: (reason: string) => void
  /** Ends the counting for the rates. Later answers are too late. */
  readonly end: () => void
  readonly read: (seconds: number) => Pick<OverloadResult, 'kinds' | 'wrong' | 'wrongs' | 'shed'>
}

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

interface Answers {
  readonly request: OverloadRequest
  readonly kind: KindTimes['kind']
  readonly durationsMs: number[]
  inTime: number
}

/** The time within which a refusal must arrive. */
const SOON_MS = 50
/** The most wrong answers whose text is kept. */
const WRONG_TEXT_LIMIT = 10
const RETRY_AFTER = /\r\nretry-after: *\d+/i

export function openCounts(requests: readonly OverloadRequest[]): Counts {
  const open = (kind: Answers['kind']) =>
    new Map(
      requests.map((request): [OverloadRequest, Answers] => [request, { request, kind, durationsMs: [], inTime: 0 }]),
    )
  const served = open('served')
  const refused = open('shed')
  const wrongs: string[] = []
  let wrong = 0
  let isOver = false
  let shed: Answer | undefined

  function addWrong(reason: string): void {
    wrong += 1
    if (wrongs.length < WRONG_TEXT_LIMIT) wrongs.push(reason)
  }

  return {
    addAnswer(request, answer, ms) {
      const { status, head, body } = answer
      const isServed = status === request.status && body.includes(request.contains)
      const isShed = status === 503 && request.maybeShed && RETRY_AFTER.test(head)
      if (isShed) shed ??= parseAnswer(answer)
      const answers = isServed ? served.get(request) : isShed ? refused.get(request) : undefined
      if (answers === undefined) return addWrong(`${request.name}: ${status} ${body.slice(0, 200)}`)
      answers.durationsMs.push(ms)
      if (!isOver) answers.inTime += 1
    },
    addWrong,
    end: () => void (isOver = true),
    read: (seconds) => ({
      kinds: [...served.values(), ...refused.values()]
        .filter(({ durationsMs }) => durationsMs.length > 0)
        .map(({ request: { name }, kind, durationsMs, inTime }) => ({
          name,
          kind,
          ...summarizeTimes(durationsMs),
          perSecond: inTime / seconds,
          soonShare: durationsMs.filter((ms) => ms <= SOON_MS).length / durationsMs.length,
        })),
      wrong,
      wrongs,
      shed,
    }),
  }
}

function parseAnswer({ status, head, body }: RawAnswer): Answer {
  const lines = head.split('\r\n').slice(1)
  return { status, headers: ownHeaders(lines.flatMap((line) => line.split(/: *(.*)/, 2))), body }
}
