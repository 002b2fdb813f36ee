import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import type { AuditView } from '../../protocol/audit/views.ts'
import { html } from '../../web/markup.ts'
import { addressOf } from '../engine/addresses.ts'
import { feed, type ListedEvents } from '../feed.ts'
import { filterBar, type Views } from '../list.ts'
import { nameOf } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Texts } from '../engine/form.ts'

const LABELS: Readonly<Record<AuditView, string>> = {
  'failed-sign-ins': 'Failed sign-ins',
  changes: 'Changes by people',
  clients: 'Clients',
  security: 'Security',
}

const VIEWS: Views = { filter: 'view', all: 'Everything', views: LABELS, replaces: ['event'] }

export const AUDIT = screen<{ readonly list: ListedEvents }>({
  path: '/console/audit',
  section: 'audit',
  reads: { list: { task: 'audit.list', input: () => ({}) } },
  filters: ['view', 'event', 'actor', 'user_id', 'client_id', 'organization_id', 'request_id', 'since', 'until'],
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
      ${filterBar(frame, VIEWS, list.names)} ${feed(frame, list)}`,
  }),
})

/** The names of the ids of one event, so that a saved line can be read alone. */
function namesIn(event: AuditEntryDocument, names: Texts): Texts {
  const ids = [event.actor, event.user_id, event.client_id, event.organization_id]
  const known = ids.flatMap((one): [string, string | undefined][] => (one === null ? [] : [[one, nameOf(names, one)]]))
  return Object.fromEntries(known.filter((pair): pair is [string, string] => pair[1] !== undefined))
}
