import type { AuditEvent } from '../ports/records/audit.ts'
import type { EpochMs } from '../base/brand.ts'
import type { GrantType } from '../protocol/token/grant-types.ts'
import type { ClientId } from '../protocol/ids.ts'

const MINUTE_MS = 60_000
/** How many clients one count holds. When it is full, the next count begins. */
const CLIENT_LIMIT = 10_000
/** How many counts may wait to be written. Beyond this limit, tokens are counted without their client. */
const WAITING_LIMIT = 4

type Grants = Partial<Record<GrantType, number>>

/** The tokens that were issued in one minute, or in a part of a busy minute. */
export interface Count {
  readonly minute: EpochMs
  readonly clients: ReadonlyMap<ClientId, Grants>
  /** Tokens of clients beyond the limit. */
  readonly others: Grants
}

export interface TokenCounter {
  /** Returns whether a count is full and should be written now. */
  readonly add: (clientId: ClientId, grantType: GrantType, now: EpochMs) => boolean
  /** Removes and returns the counts of past minutes, or all counts. */
  readonly take: (before: EpochMs | 'all') => readonly Count[]
}

/** Counts issued tokens by client and minute, for at most 50,000 clients. */
export function openTokenCounter(): TokenCounter {
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

/** Returns a `tokens.issued` event for each client of a count. */
export function* issuedEvents({ minute, clients, others }: Count): Generator<AuditEvent> {
  for (const [clientId, grants] of clients) yield { event: 'tokens.issued', clientId, details: { ...grants, minute } }
  if (Object.keys(others).length > 0) yield { event: 'tokens.issued', details: { ...others, minute } }
}

export function minuteOf(time: EpochMs): EpochMs {
  return (time - (time % MINUTE_MS)) as EpochMs
}

function newCount(minute: EpochMs): { minute: EpochMs; clients: Map<ClientId, Grants>; others: Grants } {
  return { minute, clients: new Map(), others: {} }
}

function increase(grants: Grants, grantType: GrantType): void {
  grants[grantType] = (grants[grantType] ?? 0) + 1
}
