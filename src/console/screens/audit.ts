import { parseUserId } from '../../protocol/ids.ts'
import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { addressOf, filterBar, id, named, nothing, table, time } from '../parts.ts'
import { screen, type Frame, type Texts } from '../screen.ts'

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
  filters: ['event', 'client_id', 'user_id', 'actor', 'since', 'until'],
  forms: [],
  names: ({ list }) => list.names,
  lines: ({ list }) => ({ rows: list.events, next: list.next }),
  view: ({ list }, frame) => ({
    title: 'Audit',
    main: html`<div class="heading">
        <h1>Audit</h1>
        <a class="button" href="${addressOf(frame, { format: 'ndjson' })}" download>Save as NDJSON</a>
      </div>
      ${filterBar(frame)} ${events(frame, list, undefined)}`,
  }),
})

/** Events as rows. `none`: what an empty list says; undefined: it can be filtered. */
export function events(frame: Frame, { events: rows, names, next }: Listed, none: string | undefined): Markup {
  return table(frame, {
    caption: 'Events, newest first',
    rows,
    next: none === undefined ? next : null,
    empty: none === undefined ? nothing(frame, 'Events appear here as they happen.', undefined) : html`<p>${none}</p>`,
    columns: [
      { heading: 'Event', cell: ({ event }) => code(event) },
      { heading: 'When', cell: ({ recorded_at: at }) => time(at, frame) },
      { heading: 'Who', cell: ({ actor, user_id: user }) => who(actor, user, names) },
      { heading: 'About', cell: (entry) => about(entry, names) },
      { heading: 'Details', isWide: true, isRest: true, cell: ({ details }) => detailsOf(details) },
    ],
  })
}

/** The administrator who did it, or the user. */
function who(actor: string | null, user: string | null, names: Texts): Fragment {
  if (actor === null) return user === null ? html`<span class="muted">–</span>` : named('users', user, names)
  if (parseUserId(actor) !== undefined) return named('users', actor, names)
  return html`<bdi>${names[actor] ?? actor}</bdi>`
}

function about(
  { actor, client_id: client, user_id: user, organization_id: organization }: AuditEntryDocument,
  names: Texts,
): Fragment {
  const parts: Markup[] = [
    ...(client === null ? [] : [named('clients', client, names)]),
    ...(user === null || actor === null ? [] : [named('users', user, names)]),
    ...(organization === null
      ? []
      : [names[organization] === undefined ? id(organization) : html`<bdi>${names[organization]}</bdi>`]),
  ]
  return parts.length === 0
    ? html`<span class="muted">–</span>`
    : parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)
}

function detailsOf(details: AuditEntryDocument['details']): Fragment {
  const text = Object.entries(details)
    .map(([member, value]) => `${member} ${String(value)}`)
    .join(', ')
  return html`<span class="muted" title="${text}">${text}</span>`
}
