import type { Context } from '../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../protocol/ids.ts'
import { currentEventName } from '../protocol/event-names.ts'
import { parseJson } from '../protocol/json.ts'
import { AdminError } from './admin-error.ts'
import { requireLimit, type Listed } from './page.ts'

/** Links that one read takes, and that one list looks at: a filter that fits nothing must not read for ever. */
const SLICE = 200
const LOOK_LIMIT = 20_000

/** Names the last link of a chain, every minute: nothing that anybody did. */
const HEAD = 'audit.head'

/** Where an event stands: its link, and its place in it. */
export const AUDIT_PLACE = /^([0-9a-f]{20}[A-Za-z0-9_-]{14})-(\d{1,9})$/

/** An event as it is listed. */
export interface AuditEntry extends Omit<AuditEvent, 'event'> {
  /** Where it stands: its link, and its place in it. */
  readonly id: string
  /** As it is stored: an earlier release may have used another name. */
  readonly event: string
  readonly recordedAt: EpochMs
}

/** Of all that are given, what fits. */
export interface AuditFilter {
  /** A word, or the start of words up to a dot: `client.`. Without one the audit's own `audit.head` are left out. */
  readonly event?: string | undefined
  readonly clientId?: ClientId | undefined
  readonly userId?: UserId | undefined
  readonly organizationId?: OrganizationId | undefined
  readonly since?: EpochMs | undefined
}

type Needs = { readonly store: Pick<Context['store'], 'listAuditLinks'> }

/**
 * What happened, newest first. A slice may have fewer entries than its limit, or none, though the list goes on: it ends
 * where `next` is undefined.
 *
 * @throws AdminError when the limit or `before` is not one
 */
export async function listAudit(
  { store }: Needs,
  page: { readonly before: string | undefined; readonly limit: number } & AuditFilter,
): Promise<Listed<AuditEntry, string>> {
  const limit = requireLimit(page.limit)
  const start = readCursor(page.before)
  const since = page.since ?? (0 as EpochMs)
  const rows: AuditEntry[] = []
  let before = start === undefined ? undefined : from(start.link)
  let last: string | undefined
  for (let looked = 0; looked < LOOK_LIMIT; looked += SLICE) {
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
    if (links.length < SLICE) return { rows, next: undefined }
  }
  return { rows, next: last }
}

/** The events of a link that stand before a place of it, newest first. */
function entriesOf({ id, recordedAt, events }: AuditLinkRecord, end: number | undefined): readonly AuditEntry[] {
  const entries = readEvents(events).map((event, place) => ({ ...event, id: `${id}-${place}`, recordedAt }))
  return entries.slice(0, end).toReversed()
}

/** What is there even if somebody changed it: `verifyAudit` says whether somebody did. */
function readEvents(text: string): readonly AuditEvent[] {
  const events = parseJson(text)
  const isSound = Array.isArray(events) && events.every((one) => typeof (one as AuditEvent | null)?.event === 'string')
  return isSound ? (events as readonly AuditEvent[]) : [{ event: 'audit.unreadable' }]
}

function fits(entry: AuditEntry, filter: AuditFilter): boolean {
  const { event, clientId, userId, organizationId } = filter
  if (event === undefined ? entry.event === HEAD : !isOrBeginsWith(event, currentEventName(entry.event))) return false
  if (clientId !== undefined && entry.clientId !== clientId) return false
  if (userId !== undefined && entry.userId !== userId) return false
  return organizationId === undefined || entry.organizationId === organizationId
}

function isOrBeginsWith(wanted: string, event: string): boolean {
  return event === wanted || (wanted.endsWith('.') && event.startsWith(wanted))
}

/** Just after a link, so that it comes again. */
function from(link: string): string {
  return `${link}~`
}

/** @throws AdminError when it is not what a list gave */
function readCursor(text: string | undefined): { readonly link: string; readonly place: number } | undefined {
  if (text === undefined) return undefined
  const [, link, place] = AUDIT_PLACE.exec(text) ?? []
  if (link === undefined || place === undefined)
    throw new AdminError(`"${text}" is not where a list of the audit goes on.`)
  return { link, place: Number(place) }
}
