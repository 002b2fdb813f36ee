import type { AuditEvent } from '../ports/records/audit.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { GrantType } from '../protocol/client-metadata.ts'
import type { ClientId } from '../protocol/ids.ts'

const MINUTE_MS = 60_000
/** Clients whose tokens of one minute are counted apart; then the next count begins. */
const CLIENT_LIMIT = 10_000
/** Counts that wait to be written. Beyond it tokens are counted without saying whose. */
const WAITING_LIMIT = 4

type Grants = Partial<Record<GrantType, number>>

/** What one minute, or a part of a busy one, gave out. */
export interface Count {
  readonly minute: EpochMs
  readonly clients: ReadonlyMap<ClientId, Grants>
  /** Of clients that found no room. */
  readonly others: Grants
}

export interface Tally {
  /** Answers whether there is a count that should be written now, because it is full. */
  readonly add: (clientId: ClientId, grantType: GrantType, now: EpochMs) => boolean
  /** The counts of minutes that are over, or all of them. They are the caller's then. */
  readonly take: (before: EpochMs | 'all') => readonly Count[]
}

/** Counts issued tokens by client and minute. Holds at most 50,000 clients. */
export function openTokenCounter(): Tally {
  let current = newCount(0 as EpochMs)
  let waiting: Count[] = []

  function close(): void {
    if (current.clients.size > 0 || Object.keys(current.others).length > 0) waiting.push(current)
  }

  return {
    add(clientId, grantType, now) {
      const minute = minuteOf(now)
      const isFull = current.clients.size >= CLIENT_LIMIT && waiting.length < WAITING_LIMIT
      if (current.minute !== minute || isFull) {
        close()
        current = newCount(minute)
      }
      const counted = current.clients.get(clientId)
      if (counted !== undefined) increase(counted, grantType)
      else if (current.clients.size < CLIENT_LIMIT && waiting.length <= WAITING_LIMIT)
        current.clients.set(clientId, { [grantType]: 1 })
      else increase(current.others, grantType)
      return isFull
    },
    take(before) {
      if (before === 'all' || current.minute < minuteOf(before)) {
        close()
        current = newCount(current.minute)
      }
      const taken = waiting
      waiting = []
      return taken
    },
  }
}

/** `tokens.issued` for each client of a count. */
export function* issuedEvents({ minute, clients, others }: Count): Generator<AuditEvent> {
  for (const [clientId, grants] of clients) yield { event: 'tokens.issued', clientId, details: { ...grants, minute } }
  if (Object.keys(others).length > 0) yield { event: 'tokens.issued', details: { ...others, minute } }
}

export function minuteOf(moment: EpochMs): EpochMs {
  return (moment - (moment % MINUTE_MS)) as EpochMs
}

function newCount(minute: EpochMs): { minute: EpochMs; clients: Map<ClientId, Grants>; others: Grants } {
  return { minute, clients: new Map(), others: {} }
}

function increase(grants: Grants, grantType: GrantType): void {
  grants[grantType] = (grants[grantType] ?? 0) + 1
}
