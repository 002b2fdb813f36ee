import type { StoreNeeds } from '../../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../../ports/records/audit.ts'
import { readEvents } from '../../protocol/audit/audit-link.ts'
import { AUDIT_VIEWS, type AuditView } from '../../protocol/audit/views.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../../protocol/ids.ts'
import { AdminError } from '../admin-error.ts'
import type { Listed, PageRequest } from '../page.ts'

const SLICE = 200
/**
 * The links that a page of a search reads: a filter without matches must not read the whole audit. A page with few rows, as beside an object,
 * does not search as far as a page of a list.
 */
const READ_LIMITS = { perRow: 200, least: 2500, most: 20_000 } as const
/** A search begins with a small slice, because the filter may fit all links, and goes on with larger ones. */
const LARGEST_SLICE = 3200

/** Records the last link of a chain, every minute. It is not an action of a user, client or operator. */
const HEAD = 'audit.head'
/** What is listed for a link that cannot be read. */
const UNREADABLE = 'audit.unreadable'

/** The position of an event: its link, and its index in the link. */
export const AUDIT_PLACE = /^([0-9a-f]{20}[A-Za-z0-9_-]{14})-(\d{1,9})$/

/** An event as it is listed. */
export interface AuditEntry extends Omit<AuditEvent, 'event'> {
  /** The position of the event: its link, and its index in the link. */
  readonly id: string
  /** As it is stored. */
  readonly event: string
  readonly recordedAt: EpochMs
}

/** Selects the events that match all given members. */
export interface AuditFilter {
  /** An event name, or a prefix of names up to a dot: `client.`. Without it, `audit.head` is left out. */
  readonly event?: string | undefined
  readonly view?: AuditView | undefined
  readonly actor?: string | undefined
  readonly clientId?: ClientId | undefined
  readonly userId?: UserId | undefined
  readonly organizationId?: OrganizationId | undefined
  readonly since?: EpochMs | undefined
  /** Events recorded before this time. */
  readonly until?: EpochMs | undefined
  /** As the line of the request in the log names it. */
  readonly requestId?: string | undefined
}

/**
 * Lists events, newest first. A page may have fewer entries than its limit, or none, even if more entries follow: the list ends
 * where `next` is undefined.
 *
 * @throws AdminError when `until` is not later than `since`
 */
export async function listAudit(
  { store }: StoreNeeds<'findListEnd' | 'listAuditLinks'>,
  page: PageRequest<string> & AuditFilter,
): Promise<Listed<AuditEntry, string>> {
  const { limit } = page
  const start = readCursor(page.before)
  const since = page.since ?? (0 as EpochMs)
  if (page.until !== undefined && page.until <= since) throw new AdminError('"until" is not later than "since".')
  const rows: AuditEntry[] = []
  const containing = rarestText(page)
  const latest = page.until === undefined ? undefined : startOfLinks(page.until)
  let before = start === undefined ? latest : from(start.link)
  let size = SLICE
  const most = Math.min(Math.max(limit * READ_LIMITS.perRow, READ_LIMITS.least), READ_LIMITS.most)
  for (let read = 0; read < most; read += size) {
    size = Math.min(read + SLICE, LARGEST_SLICE, most - read)
    const end = await store.findListEnd({ list: 'audit', before, size })
    if (end === undefined) return { rows, next: null }
    for (const link of await store.listAuditLinks({ before, from: end, limit: size, since, containing })) {
      for (const entry of entriesOf(link, link.id === start?.link ? start.place : undefined)) {
        if (!fits(entry, page)) continue
        rows.push(entry)
        if (rows.length === limit) return { rows, next: entry.id }
      }
    }
    if (end < startOfLinks(since)) return { rows, next: null }
    before = end
  }
  return { rows, next: `${before ?? ''}-0` }
}

/** A text that each link with a fitting event has: the statement leaves out the others, and what fits is decided by the events. */
function rarestText({ event, actor, clientId, userId, organizationId, requestId }: AuditFilter): string | undefined {
  if (clientId !== undefined || userId !== undefined) return clientId ?? userId
  const text = requestId ?? actor
  if (text !== undefined) return JSON.stringify(text).slice(1, -1)
  // A link that cannot be read is an event that its text does not have.
  return event === UNREADABLE ? undefined : (organizationId ?? event)
}

/** The events of a link before an index, newest first. */
function entriesOf(link: AuditLinkRecord, end: number | undefined): readonly AuditEntry[] {
  const { id, recordedAt } = link
  const entries = (readEvents(link) as readonly AuditEvent[]).map((event, place) => ({
    ...event,
    id: `${id}-${place}`,
    recordedAt,
  }))
  return entries.slice(0, end).toReversed()
}

function fits(entry: AuditEntry, filter: AuditFilter): boolean {
  const { event, view, clientId, userId, organizationId, requestId } = filter
  if (event === undefined ? entry.event === HEAD : !isOrBeginsWith(event, entry.event)) return false
  if (view !== undefined && !(AUDIT_VIEWS[view] as readonly string[]).includes(entry.event)) return false
  if (clientId !== undefined && entry.clientId !== clientId) return false
  if (filter.actor !== undefined && (entry.actor ?? entry.userId) !== filter.actor) return false
  if (requestId !== undefined && entry.requestId !== requestId) return false
  if (userId !== undefined && entry.userId !== userId) return false
  return organizationId === undefined || entry.organizationId === organizationId
}

function isOrBeginsWith(wanted: string, event: string): boolean {
  return event === wanted || (wanted.endsWith('.') && event.startsWith(wanted))
}

/** The position before all links of a time. */
function startOfLinks(time: EpochMs): string {
  return time.toString(16).padStart(12, '0')
}

/** A position just after a link, so that the next read includes the link. */
function from(link: string): string {
  return `${link}~`
}

function readCursor(text: string | undefined): { readonly link: string; readonly place: number } | undefined {
  const [, link, place] = AUDIT_PLACE.exec(text ?? '') ?? []
  return link === undefined ? undefined : { link, place: Number(place) }
}
