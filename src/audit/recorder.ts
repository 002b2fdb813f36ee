import type { Context } from '../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import type { EventFields } from '../protocol/event-names.ts'
import type { Chains } from './chain.ts'
import { issuedEvents, minuteOf, openTokenCounter, type Count } from './token-counter.ts'

/** Events, and clients that were used, that are written at a time. */
const SLICE = 256
/** Different events of one word that are reported in one minute. Beyond it they are counted by their word alone. */
const REPORT_LIMIT = 25
/** A chain lasts an hour; one more for clocks that differ. */
const GROWING_MS = 2 * 60 * 60 * 1000
/** Heads named by a process that named none before, such as a command, and every minute. */
const HEAD_LIMIT = { first: 100, usual: 1000 } as const
/** Whether events say anything but heads. Within a text of theirs a quote is escaped. */
const MORE_THAN_HEADS = /"event":"(?!audit\.head")/

/** Keeps what the audit says beside the facts of each commit: counts, what was reported, and the heads of chains. */
export interface AuditRecorder extends Pick<Context, 'issued' | 'report'> {
  /** Writes down what the minutes that are over gave; called again and again. Never fails: it logs what it could not write. */
  readonly keep: () => Promise<void>
  /** Writes down everything, before the store is closed. */
  readonly close: () => Promise<void>
}

interface Means extends Pick<Context, 'clock'> {
  readonly store: Pick<Context['store'], 'listAuditHeads' | 'noteUses' | 'recordEvent'>
  readonly chains: Chains
  readonly logger: Readonly<Record<'info' | 'warn' | 'error', (fields: EventFields) => void>>
}

export function openAuditRecorder({ clock, store, chains, logger }: Means): AuditRecorder {
  const tally = openTokenCounter()
  let reports = openReports(clock())
  let named: ReadonlyMap<string, number> | undefined
  let headsAt = 0 as EpochMs
  let underWay: Promise<void> = Promise.resolve()

  /** One after the other, and each failure only logged: the next minute comes anyway. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    underWay = underWay
      .then(work)
      .then(undefined, (cause: unknown) => logger.error({ event: 'audit.recording-failed', err: cause }))
    return underWay
  }

  async function writeCount(count: Count): Promise<void> {
    const events = [...issuedEvents(count)]
    for (let start = 0; start < events.length; start += SLICE) {
      const slice = events.slice(start, start + SLICE)
      const uses = slice.flatMap(({ clientId }) => (clientId === undefined ? [] : [{ id: clientId, at: count.minute }]))
      await Promise.all([store.noteUses(uses), ...slice.map(store.recordEvent)])
    }
  }

  async function writeCounts(before: EpochMs | 'all'): Promise<void> {
    for (const count of tally.take(before)) await writeCount(count)
    if (before !== 'all' && reports.minute === minuteOf(before)) return
    const repeated = reports.repeated()
    reports = openReports(clock())
    await Promise.all(repeated.map(store.recordEvent))
  }

  async function nameHeads(isFirst: boolean): Promise<void> {
    const since = isFirst ? (0 as EpochMs) : after(clock(), -GROWING_MS)
    const limit = named === undefined ? HEAD_LIMIT.first : HEAD_LIMIT.usual
    const found = await store.listAuditHeads({ since, limit })
    const grown = found.filter(
      ({ chainId, sequence }) => named?.get(chainId) !== sequence && !chains.isOnlyOwn(chainId),
    )
    if (grown.some(isNews)) await Promise.all(grown.map((link) => store.recordEvent(headEvent(link))))
    named = new Map(found.map(({ chainId, sequence }) => [chainId, sequence]))
  }

  /** One link of heads is none, or processes would name each other for ever. Before it may stand what somebody did. */
  function isNews({ chainId, sequence, events }: AuditLinkRecord): boolean {
    return sequence > (named?.get(chainId) ?? -1) + 1 || MORE_THAN_HEADS.test(events)
  }

  function logHeads(): boolean {
    const heads = chains.takeHeads()
    for (const { chainId, sequence, hash } of heads) {
      logger.info({ event: 'audit.head', chain: chainId, sequence, hash })
    }
    return heads.length > 0
  }

  return {
    issued(clientId, grantType) {
      if (tally.add(clientId, grantType, clock())) void inTurn(() => writeCounts(clock()))
    },
    report(event) {
      logger.warn({
        event: event.event,
        client: event.clientId,
        user: event.userId,
        actor: event.actor,
        ...event.details,
      })
      if (reports.isNew(event)) void inTurn(async () => void (await store.recordEvent(event)))
    },
    keep: () =>
      inTurn(async () => {
        const now = clock()
        await writeCounts(now)
        if (minuteOf(now) === headsAt) return
        headsAt = minuteOf(now)
        await nameHeads(named === undefined)
        logHeads()
      }),
    async close() {
      await inTurn(() => writeCounts('all'))
      if (!logHeads()) return
      await inTurn(() => nameHeads(false))
      logHeads()
    },
  }
}

function headEvent({ chainId, sequence, hash, recordedAt }: AuditLinkRecord): AuditEvent {
  return { event: 'audit.head', details: { chain: chainId, sequence, hash, recorded_at: recordedAt } }
}

interface Reports {
  readonly minute: EpochMs
  /** Whether nobody reported the same in this minute; counts it when somebody did. */
  readonly isNew: (event: AuditEvent) => boolean
  /** What came again, once each, with how often. */
  readonly repeated: () => readonly AuditEvent[]
}

/** Whoever repeats something refused a thousand times a second must not fill the store: the first one is written at once. */
function openReports(now: EpochMs): Reports {
  const seen = new Map<string, { readonly event: AuditEvent; again: number }>()
  /** Different events by their word, so that those of one word displace those of no other. */
  const counts = new Map<string, number>()
  return {
    minute: minuteOf(now),
    isNew(event) {
      const key = JSON.stringify(event)
      const count = counts.get(event.event) ?? 0
      const isRoom = count < REPORT_LIMIT || seen.has(key)
      const known = seen.get(isRoom ? key : event.event)
      if (known !== undefined) known.again += 1
      else {
        counts.set(event.event, count + 1)
        seen.set(isRoom ? key : event.event, { event: isRoom ? event : { event: event.event }, again: 0 })
      }
      return known === undefined
    },
    repeated: () =>
      [...seen.values()].flatMap(({ event, again }) =>
        again === 0 ? [] : [{ ...event, details: { ...event.details, again } }],
      ),
  }
}
