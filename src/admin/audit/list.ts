import type { StoreNeeds } from '../../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../../ports/records/audit.ts'
import { readEvents } from '../../protocol/audit/audit-link.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../../protocol/ids.ts'
import { AdminError } from '../admin-error.ts'
import type { Listed, PageRequest } from '../page.ts'

/** The number of links in one read, and the maximum for one page: a filter without matches must not read the whole audit. */
const SLICE = 200
const READ_LIMIT = 20_000

/** Records the last link of a chain, every minute. It is not an action of a user, client or operator. */
const HEAD = 'audit.head'

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
  { store }: StoreNeeds<'listAuditLinks'>,
  page: PageRequest<string> & AuditFilter,
): Promise<Listed<AuditEntry, string>> {
  const { limit } = page
  const start = readCursor(page.before)
  const since = page.since ?? (0 as EpochMs)
  if (page.until !== undefined && page.until <= since) throw new AdminError('"until" is not later than "since".')
  const rows: AuditEntry[] = []
  const latest = page.until === undefined ? undefined : startOfLinks(page.until)
  let before = start === undefined ? latest : from(start.link)
  let last: string | undefined
  for (let read = 0; read < READ_LIMIT; read += SLICE) {
    const links = await store.listAuditLinks({ before, limit: SLICE, since })
    for (const link of links) {
      const end = link.id === start?.link ? start.place : undefined
      for (const entry of entriesOf(link, end)) {
        last = entry.id
        if (!fits(entry, page)) continue
        rows.push(entry)
        if (rows.length === limit) return { rows, next: entry.id }
      }
      before = link.id
    }
    if (links.length < SLICE) return { rows, next: null }
  }
  return { rows, next: last ?? null }
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
  const { event, clientId, userId, organizationId, requestId } = filter
  if (event === undefined ? entry.event === HEAD : !isOrBeginsWith(event, entry.event)) return false
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
