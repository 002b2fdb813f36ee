import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { linkFor, listAddress } from '../links.ts'
import { addressOf } from '../engine/addresses.ts'
import { filterBar, nothing, table } from '../list.ts'
import { exactTime, moment, named, networkOf } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Frame, Texts } from '../engine/form.ts'

interface Listed {
  readonly events: readonly AuditEntryDocument[]
  readonly names: Texts
  readonly next: string | null
}

/** On the page of an object. */
export const EVENTS_SHOWN = 10

export const AUDIT = screen<{ readonly list: Listed }>({
  path: '/console/audit',
  section: 'audit',
  reads: { list: { task: 'audit.list', input: () => ({}) } },
  filters: ['event', 'actor', 'user_id', 'client_id', 'organization_id', 'since', 'until'],
  forms: [],
  names: ({ list }) => list.names,
  lines: ({ list }) => ({
    rows: list.events.map((event) => ({ ...event, names: namesIn(event, list.names) })),
    next: list.next,
  }),
  view: ({ list }, frame) => ({
    title: 'Audit',
    main: html`<div class="heading">
        <h1>Audit</h1>
        <span class="actions"
          ><a class="button" href="/console/audit/verification">Verify</a>
          <a class="button" href="${addressOf(frame, { before: undefined, format: 'ndjson' })}">Save as NDJSON</a></span
        >
      </div>
      ${filterBar(frame)} ${events(frame, list, undefined)}`,
  }),
})

/** The names of the ids of one event, so that a saved line can be read alone. */
function namesIn(event: AuditEntryDocument, names: Texts): Texts {
  const ids = [event.actor, event.user_id, event.client_id, event.organization_id]
  return Object.fromEntries(ids.flatMap((one) => (one === null || names[one] === undefined ? [] : [[one, names[one]]])))
}

/** Events as rows. `none`: what an empty list says; undefined: it can be filtered. */
export function events(frame: Frame, { events: rows, names, next }: Listed, none: string | undefined): Markup {
  return table(frame, {
    caption: 'Events, newest first',
    rows,
    next: none === undefined ? next : null,
    empty: none === undefined ? nothing(frame, 'Events appear here as they happen.', undefined) : html`<p>${none}</p>`,
    columns: [
      { heading: 'Event', cell: ({ event }) => code(event) },
      {
        heading: none === undefined ? 'When (UTC)' : 'When',
        cell: ({ recorded_at: at }) => moment(at, frame, none === undefined),
      },
      { heading: 'Who', cell: (entry) => who(frame, entry, names) },
      { heading: 'About', cell: (entry) => about(frame, entry, names) },
      { heading: 'Details', isWide: true, isRest: true, cell: (entry) => detailsOf(frame, entry, none === undefined) },
    ],
  })
}

/** Whether the user of an event did it. Anybody may have typed the address at a sign-in that failed. */
function isByUser({ event, actor }: AuditEntryDocument): boolean {
  return actor === null && event !== 'sign-in.failed'
}

/** The administrator who did it, or the user, with a link to all that they did. */
function who(frame: Frame, entry: AuditEntryDocument, names: Texts): Fragment {
  const doer = isByUser(entry) ? entry.user_id : entry.actor
  if (doer === null) return html`<span class="muted none">–</span>`
  const name = html`<bdi>${names[doer] ?? doer}</bdi>`
  // A role for one organization has no audit.
  if (frame.organization !== undefined) return name
  return html`<a href="${listAddress('audit', 'actor', doer)}">${name}</a>`
}

function about(frame: Frame, entry: AuditEntryDocument, names: Texts): Fragment {
  const { client_id: client, user_id: user, organization_id: organization } = entry
  const parts: Markup[] = [
    ...(client === null ? [] : [named(frame, 'clients', client, names)]),
    ...(user === null || isByUser(entry) ? [] : [named(frame, 'users', user, names)]),
    ...(organization === null ? [] : [named(frame, 'organizations', organization, names)]),
  ]
  return parts.length === 0
    ? html`<span class="muted none">–</span>`
    : parts.map((part, index) => html`${part}${index === parts.length - 1 ? '' : ', '}`)
}

/** Milliseconds since 2001. No count is as large. */
const A_TIME = 1e12

/** Without a comma, among others. */
function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** What fits into the row, and on demand all of it, with what else names the event. `hasTime`: the row has its second. */
function detailsOf(frame: Frame, entry: AuditEntryDocument, hasTime: boolean): Fragment {
  const { details, grant_id: grant, request_id: request, recorded_at: at } = entry
  const text = Object.entries(details)
    .map(
      ([member, value]) =>
        `${member} ${typeof value === 'number' && value >= A_TIME ? secondOf(value) : networkOf(String(value)) || '(none)'}`,
    )
    .join(', ')
  const to = grant === null ? undefined : linkFor(frame, 'grants', grant)
  const more = [
    ...(hasTime ? [] : [html`${exactTime(at, 'second')}`]),
    ...(grant === null ? [] : [html`grant <a href="${to}">${code(grant)}</a>`]),
    ...(request === null ? [] : [html`request ${code(request)}`]),
  ]
  if (text === '' && more.length === 0) return html`<span class="muted none">–</span>`
  return html`<details class="whole">
    <summary>${text === '' ? 'More' : text}</summary>
    ${more.map((one, index) => html`${index === 0 ? '' : ', '}${one}`)}
  </details>`
}
