import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import type { Reads } from '../ports/store.ts'
import { after, type EpochMs } from '../base/brand.ts'
import type { EventFields } from '../protocol/audit/event-names.ts'
import { parseJson } from '../base/json.ts'
import { eventLine } from './event-line.ts'

/** The actor of a command beside the servers. What a server changes by itself has the actor `server`. */
const COMMAND_LINE = 'command-line'
const HEAD = 'audit.head'
/** How many links are read at once. */
const SLICE = 100
/** The first events of a command that creates the store have no actor. */
const FIRST = 3
/** A server that starts logs what commands changed since then, because it does not know what was logged before. */
const LOGGED_MS = 60 * 60 * 1000

interface Dependencies {
  readonly clock: () => EpochMs
  readonly store: Pick<Reads, 'listChainLinks'>
  readonly info: (fields: EventFields) => void
}

/**
 * Logs what commands beside the servers changed. Their own output goes to the terminal, so the servers read it from the audit. A
 * command is a process and has a chain of its own, whose first links name the actor. So of the chains of servers only the first
 * links are read.
 *
 * Returns a function that logs the new events of the chains with these heads. Each server logs them, with the same `audit`.
 */
export function openCommandLog({
  clock,
  store,
  info,
}: Dependencies): (heads: readonly AuditLinkRecord[]) => Promise<void> {
  /** The sequence of the next link of each chain; infinite for a chain of a server. A chain without it has too few links to tell. */
  let places: ReadonlyMap<string, number> = new Map()

  async function logChain({ chainId, sequence, recordedAt }: AuditLinkRecord): Promise<number | undefined> {
    let place = places.get(chainId)
    if (place === undefined && recordedAt < after(clock(), -LOGGED_MS)) return Number.POSITIVE_INFINITY
    while ((place ?? 0) <= sequence) {
      const links = await store.listChainLinks({
        chainId,
        from: place ?? 0,
        limit: place === undefined ? FIRST : SLICE,
      })
      if (place === undefined && !links.some(isOfCommand))
        return links.length < FIRST ? undefined : Number.POSITIVE_INFINITY
      for (const link of links) logLink(link)
      const last = links.at(-1)
      if (last === undefined) break
      place = last.sequence + 1
    }
    return place
  }

  function logLink({ id, recordedAt, events }: AuditLinkRecord): void {
    const about = { audit: id, recorded_at: new Date(recordedAt).toISOString() }
    for (const event of eventsOf(events)) if (event.event !== HEAD) info({ ...eventLine(event), ...about })
  }

  return async (heads) => {
    const next = new Map<string, number>()
    for (const head of heads) {
      const place = await logChain(head)
      if (place !== undefined) next.set(head.chainId, place)
    }
    places = next
  }
}

function isOfCommand({ events }: AuditLinkRecord): boolean {
  return eventsOf(events).some(({ actor }) => actor === COMMAND_LINE)
}

/** Returns none for a link that was changed, which `grantor audit verify` reports. */
function eventsOf(text: string): readonly AuditEvent[] {
  const events = parseJson(text)
  return Array.isArray(events) ? (events as readonly AuditEvent[]) : []
}
