import type { ClientDocument } from '../../../admin/client/document.ts'
import type { FiguresDocument } from '../../../admin/figures.ts'
import type { ServerDocument } from '../../../admin/server.ts'
import { CONSOLE_CLIENT_ID } from '../../../protocol/client/console.ts'
import { listedNameOf } from '../../../protocol/client/identity.ts'
import { href, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { noIcon, warnIcon, yesIcon } from '../../icons.ts'
import { EVENTS_SHOWN } from '../audit.ts'
import { feed, type ListedEvents } from '../../feed.ts'
import { goesTo, trust } from '../clients.ts'
import { linkTo } from '../../links.ts'
import { addressOf } from '../../engine/addresses.ts'
import { table } from '../../list.ts'
import { command, name, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import type { Frame } from '../../engine/form.ts'
import { history, POINTS_SHOWN } from './history.ts'

interface Answers {
  readonly figures: FiguresDocument
  readonly server: ServerDocument
  readonly clients: { readonly clients: readonly ClientDocument[] }
  readonly audit: ListedEvents
}

const CLIENTS_SHOWN = 5

export const OVERVIEW = screen<Answers>({
  path: '/console',
  section: 'overview',
  reads: {
    figures: { task: 'server.figures', input: () => ({ points: POINTS_SHOWN }) },
    server: { task: 'server.show', input: () => ({}) },
    clients: { task: 'client.list', input: () => ({ limit: CLIENTS_SHOWN }) },
    audit: { task: 'audit.list', input: () => ({ limit: EVENTS_SHOWN }) },
  },
  filters: ['period'],
  forms: [],
  names: ({ audit }) => audit.names,
  view: ({ figures, server, clients, audit }, frame) => ({
    title: 'Overview',
    main: html`<div class="heading">
        <h1>Overview</h1>
        <a class="button" href="${addressOf(frame, {})}">Refresh</a>
      </div>
      <p class="sub"><span>${server.issuer}</span> <span>as of ${server.time.slice(11, 19)} UTC</span></p>
      ${findings(server, frame)} ${toDo(server, clients.clients)} ${history(figures, frame)}
      ${section('Newest clients', clientTable(frame, clients.clients), html`<a href="/console/clients">All</a>`)}
      ${section('Newest events', feed(frame, audit, { none: 'Nothing has happened yet.' }), html`<a href="/console/audit">All</a>`)}`,
  }),
})

/** What needs attention, each with its remedy; what is fine, as a number. */
function findings({ findings: all }: ServerDocument, { factorUri }: Frame): Markup {
  const open = all.filter(({ verdict }) => verdict !== 'ok')
  const fine = all.length - open.length
  return html`<ul class="findings" role="list">
    ${factorUri === undefined ? undefined : oneFactor(factorUri)}
    ${open.map(
      ({ verdict, message, remedy }) =>
        html`<li class="${verdict}">
          ${verdict === 'failed' ? noIcon : warnIcon}
          <div>
            <p>${message}</p>
            ${remedy === null ? undefined : html`<p class="muted">${remedy}</p>`}
          </div>
        </li>`,
    )}
    ${
      fine === 0
        ? undefined
        : html`<li class="ok">
            ${yesIcon}
            <p>
              ${fine} ${fine === 1 ? 'check is' : 'checks are'} fine.
              <span class="muted">grantor doctor looks at more.</span>
            </p>
          </li>`
    }
  </ul>`
}

function oneFactor(factorUri: string): Markup {
  return html`<li class="warning">
    ${warnIcon}
    <div>
      <p>Your account may change everything here, and one factor signs you in.</p>
      <p class="muted"><a href="${href(factorUri)}">Add an authenticator app or a passkey</a></p>
    </div>
  </li>`
}

/** The first steps, as long as they have not been taken. */
function toDo({ apis, issuer }: ServerDocument, clients: readonly ClientDocument[]): Fragment {
  const steps = [
    ...(apis > 0
      ? []
      : [
          [
            html`<a href="/console/apis?ask=api.create">Declare an API</a>, so that clients can request its scopes`,
            'grantor api create --resource <uri> --scope <name>=<sentence>',
          ] as const,
        ]),
    ...(clients.some(({ used_at: used, client_id: client }) => used !== null && client !== CONSOLE_CLIENT_ID)
      ? []
      : [
          [
            'Connect a client',
            `claude mcp add --transport http <name> <address of the API, whose issuer is ${issuer}>`,
          ] as const,
        ]),
  ]
  if (steps.length === 0) return undefined
  return section(
    'To do',
    html`<dl class="facts">
      ${steps.map(
        ([what, how]) =>
          html`<div>
            <dt>${what}</dt>
            <dd>${command(how)}</dd>
          </div>`,
      )}
    </dl>`,
  )
}

function clientTable(frame: Frame, rows: readonly ClientDocument[]): Markup {
  return table(frame, {
    caption: 'The newest clients',
    rows,
    empty: html`<p>No client has registered yet.</p>`,
    columns: [
      {
        heading: 'Name',
        cell: (client) =>
          html`<a href="${linkTo('clients', client.client_id)}">${name(listedNameOf(client), '(no name)')}</a>`,
      },
      { heading: 'Goes to', cell: goesTo },
      { heading: 'Trust', role: 'badge', cell: trust },
      { heading: 'Last used', role: 'meta', cell: (client) => time(client.last_used_at ?? client.used_at, frame) },
    ],
  })
}
