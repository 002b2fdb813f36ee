import type { Context, StoreNeeds } from '../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import { after, type EpochMs } from '../base/brand.ts'
import type { EventFields } from '../protocol/audit/event-names.ts'
import { CLOCK_MARGIN_MS } from '../base/clock.ts'
import { mostFrequent, OTHER } from '../base/most-frequent.ts'
import type { Origin } from '../protocol/audit/origin.ts'
import { isForClients } from '../protocol/token/grant-types.ts'
import type { ChainHead, Chains } from './chain.ts'
import { openCommandLog } from './command-log.ts'
import { eventLine } from './event-line.ts'
import { issuedEvents, minuteOf, openTokenCounter, type Count } from './token-counter.ts'

/** How many events and last-use times are written at once. */
const SLICE = 256
/** How many different events of one name are recorded in a minute. Further ones are counted by their name alone. */
const REPORT_LIMIT = 25
/** The networks that a repeated event names, and that are counted apart from others. */
const [NETWORKS_NAMED, NETWORK_LIMIT] = [3, 50]
/** What is counted for a minute happened before its end, by a clock that may be ahead. */
const COUNTED_MS = 60_000 + CLOCK_MARGIN_MS
/** Chains older than this have ended: a chain lasts an hour, and clocks may differ by up to another hour. */
const GROWING_MS = 2 * 60 * 60 * 1000
/** How many heads are recorded: the first time, which for a command is the only time, and every minute after that. */
const HEAD_LIMIT = { first: 100, usual: 1000 } as const
/** Matches events that contain anything but heads. Quotes inside texts are escaped, so they cannot match. */
const MORE_THAN_HEADS = /"event":"(?!audit\.head")/

/**
 * Records what no commit records by itself: counts of issued tokens, reported events, and the heads of other chains. Of a server
 * it also logs what commands recorded.
 */
export interface AuditRecorder extends Pick<Context, 'issued' | 'report'> {
  /**
   * Writes the counts of past minutes and, once a minute, the heads, and logs the events of commands. Called at intervals by
   * servers. Never fails: failures are logged.
   */
  readonly flush: () => Promise<void>
  /** Writes everything, before the store is closed. */
  readonly close: () => Promise<void>
}

interface Dependencies
  extends Pick<Context, 'clock'>, StoreNeeds<'listAuditHeads' | 'listChainLinks' | 'noteUses' | 'recordEvent'> {
  readonly chains: Chains
  readonly logger: Readonly<Record<'info' | 'warn' | 'error', (fields: EventFields) => void>>
  /** How long a refresh token may be unused. */
  readonly refreshIdleMs: number
  /** Counts a failure. */
  readonly onFailure?: (() => void) | undefined
  /** The id of the request that is being served. */
  readonly currentRequest?: (() => string | undefined) | undefined
}

export function openAuditRecorder({
  clock,
  store,
  chains,
  logger,
  refreshIdleMs,
  onFailure,
  currentRequest = () => undefined,
}: Dependencies): AuditRecorder {
  const tokenCounter = openTokenCounter()
  const logCommands = openCommandLog({ clock, store, info: logger.info })
  let reports = openReports(clock())
  /** The sequence of each head as it was last recorded. */
  let recorded: ReadonlyMap<string, number> | undefined
  let headsAt = 0 as EpochMs
  /** Set when a grant has changed without an event: the last link of this process then. */
  let owing: { readonly since: ChainHead | undefined } | undefined
  let underWay: Promise<void> = Promise.resolve()

  /** Runs one job after the other. A failure is only logged, because the next minute brings another attempt. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    underWay = underWay.then(work).then(undefined, (cause: unknown) => {
      onFailure?.()
      logger.error({ event: 'audit.recording-failed', err: cause })
    })
    return underWay
  }

  async function writeCount(count: Count): Promise<void> {
    const events = [...issuedEvents(count)]
    for (let start = 0; start < events.length; start += SLICE) {
      const slice = events.slice(start, start + SLICE)
      const at = count.minute
      const heldUntil = after(at, COUNTED_MS + refreshIdleMs)
      const uses = slice.flatMap(({ clientId }) => (clientId === undefined ? [] : [{ id: clientId, at, heldUntil }]))
      await Promise.all([store.noteUses(uses), ...slice.map(store.recordEvent)])
    }
  }

  async function writeCounts(before: EpochMs | 'all'): Promise<void> {
    for (const count of tokenCounter.take(before)) await writeCount(count)
    if (before !== 'all' && reports.minute === minuteOf(before)) return
    const repeated = reports.repeated()
    reports = openReports(clock())
    await Promise.all(repeated.map(store.recordEvent))
  }

  /** Returns all heads. */
  async function recordHeads(isFirst: boolean): Promise<readonly AuditLinkRecord[]> {
    const since = isFirst ? (0 as EpochMs) : after(clock(), -GROWING_MS)
    const limit = recorded === undefined ? HEAD_LIMIT.first : HEAD_LIMIT.usual
    const found = await store.listAuditHeads({ since, limit })
    const grown = found.filter(
      ({ chainId, sequence }) => recorded?.get(chainId) !== sequence && !chains.isOnlyOwn(chainId),
    )
    if (grown.some(isNews)) await Promise.all(grown.map((link) => store.recordEvent(headEvent(link))))
    recorded = new Map(found.map(({ chainId, sequence }) => [chainId, sequence]))
    return found
  }

  /**
   * A single new link that contains only heads is not news: otherwise processes would record each other's heads without end. If
   * several links were added, the earlier ones may hold other events.
   */
  function isNews({ chainId, sequence, events }: AuditLinkRecord): boolean {
    return sequence > (recorded?.get(chainId) ?? -1) + 1 || MORE_THAN_HEADS.test(events)
  }

  function logHeads(): boolean {
    const heads = chains.takeHeads()
    for (const { chainId, sequence, hash } of heads) {
      logger.info({ event: 'audit.head', chain: chainId, sequence, hash })
    }
    return heads.length > 0
  }

  /**
   * Records a head, so that a link follows a rotated refresh token or a redeemed code within seconds. From its links a node notices
   * that the store went back.
   */
  async function recordOwed(): Promise<void> {
    if (owing === undefined) return
    const { since } = owing
    owing = undefined
    if (chains.lastHead() !== since) return
    const [newest] = await store.listAuditHeads({ since: 0 as EpochMs, limit: 1 })
    if (newest !== undefined) await store.recordEvent(headEvent(since ?? newest))
  }

  return {
    issued(clientId, grantType) {
      if (grantType !== 'client_credentials' && isForClients(grantType)) owing = { since: chains.lastHead() }
      if (tokenCounter.add(clientId, grantType, clock())) void enqueue(() => writeCounts(clock()))
    },
    report(event, origin) {
      const requestId = currentRequest()
      const caused = requestId === undefined ? event : { ...event, requestId }
      const { network: _, ...agent } = origin ?? {}
      // The log is kept longer than the audit. There the line of the refusal has the network, if the settings say so.
      logger.warn(eventLine(withDetails(caused, agent)))
      // The first request of several is named; the others are counted.
      if (reports.isNew(event, origin))
        void enqueue(async () => void (await store.recordEvent(withDetails(caused, origin))))
    },
    flush: () =>
      enqueue(async () => {
        const now = clock()
        await writeCounts(now)
        await recordOwed()
        if (minuteOf(now) === headsAt) return
        headsAt = minuteOf(now)
        const heads = await recordHeads(recorded === undefined)
        logHeads()
        await logCommands(heads)
      }),
    async close() {
      await enqueue(() => writeCounts('all'))
      if (!logHeads()) return
      await enqueue(async () => void (await recordHeads(false)))
      logHeads()
    },
  }
}

function withDetails(event: AuditEvent, more: Origin | undefined): AuditEvent {
  return more === undefined ? event : { ...event, details: { ...event.details, ...more } }
}

function headEvent({ chainId, sequence, hash, recordedAt }: ChainHead): AuditEvent {
  return { event: 'audit.head', details: { chain: chainId, sequence, hash, recorded_at: recordedAt } }
}

interface Reports {
  readonly minute: EpochMs
  /** Whether the event is the first of its kind in this minute. A repeated event is counted, with its origin. */
  readonly isNew: (event: AuditEvent, origin: Origin | undefined) => boolean
  /** Returns each repeated event once, with the number of repetitions. */
  readonly repeated: () => readonly AuditEvent[]
}

/** How often an event was repeated, and from where. */
interface Repetitions {
  readonly event: AuditEvent
  again: number
  readonly networks: Map<string, number>
  /** The browser and the system of all of them; undefined: they differ. */
  agent: Omit<Origin, 'network'> | undefined
}

/**
 * The reports of one minute. The first event of a kind is recorded at once and repetitions are counted, so that a caller that
 * is refused a thousand times a second cannot fill the store.
 */
function openReports(now: EpochMs): Reports {
  const seen = new Map<string, Repetitions>()
  /** How many different events each name has, so that one name cannot use up the limit of another. */
  const counts = new Map<string, number>()
  const minute = minuteOf(now)
  return {
    minute,
    isNew(event, origin) {
      const key = JSON.stringify(event)
      const count = counts.get(event.event) ?? 0
      const isRoom = count < REPORT_LIMIT || seen.has(key)
      const known = seen.get(isRoom ? key : event.event)
      if (known !== undefined) repeat(known, origin)
      else {
        counts.set(event.event, count + 1)
        const counted = isRoom ? event : { event: event.event }
        seen.set(isRoom ? key : event.event, { event: counted, again: 0, networks: new Map(), agent: undefined })
      }
      return known === undefined
    },
    repeated: () => [...seen.values()].filter(({ again }) => again > 0).map((one) => repeatedEvent(one, minute)),
  }
}

function repeat(known: Repetitions, { network, ...agent }: Origin = {}): void {
  const { networks, again } = known
  const isSame = again === 0 || (known.agent?.browser === agent.browser && known.agent?.system === agent.system)
  known.agent = isSame ? agent : undefined
  known.again += 1
  if (network === undefined) return
  const name = networks.has(network) || networks.size < NETWORK_LIMIT ? network : OTHER
  networks.set(name, (networks.get(name) ?? 0) + 1)
}

/** With the minute, and the networks of most repetitions, each with its number: `203.0.113.0/24=9 other=4`. */
function repeatedEvent({ event, again, networks, agent }: Repetitions, minute: EpochMs): AuditEvent {
  const named = mostFrequent(networks, NETWORKS_NAMED).map(([network, count]) => `${network}=${count}`)
  const from = { ...agent, ...(named.length > 0 && { networks: named.join(' ') }) }
  return { ...event, details: { ...event.details, ...from, again, minute } }
}
