import type { ClientDocument } from '../../../admin/client/document.ts'
import type { FiguresDocument } from '../../../admin/figures.ts'
import type { ServerDocument } from '../../../admin/server.ts'
import { requireTask } from '../../../admin/tasks.ts'
import { viewDestination } from '../../../clients/destination.ts'
import { CONSOLE_CLIENT_ID } from '../../../protocol/client/console.ts'
import { listedNameOf } from '../../../protocol/client/identity.ts'
import { href, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { chart } from '../../chart.ts'
import { clientsIcon, noIcon, warnIcon, yesIcon } from '../../icons.ts'
import { feed, type ListedEvents } from '../../feed.ts'
import { goesTo, registered, trust } from '../clients.ts'
import { linkTo } from '../../links.ts'
import { addressOf } from '../../engine/addresses.ts'
import { command, dotted, name, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import type { Frame } from '../../engine/form.ts'
import { chartsOf, FIGURES_READ, periodOf, periods } from './history.ts'
import { daysBefore, periodBefore, tiles } from './tiles.ts'

interface Answers {
  readonly figures: FiguresDocument
  readonly before: FiguresDocument
  readonly days: FiguresDocument
  readonly server: ServerDocument
  readonly clients: { readonly clients: readonly ClientDocument[] }
  readonly audit: ListedEvents
}

const [EVENTS_SHOWN, CLIENTS_SHOWN] = [6, 6]

/** What needs a person, the numbers of the period, and what happened last. */
export const OVERVIEW = screen<Answers>({
  path: '/console',
  section: 'overview',
  reads: {
    figures: FIGURES_READ,
    before: { task: 'server.figures', input: periodBefore },
    days: { task: 'server.figures', input: daysBefore },
    server: { task: 'server.show', input: () => ({}) },
    clients: { task: 'client.list', input: () => ({ limit: CLIENTS_SHOWN }) },
    audit: { task: 'audit.list', input: () => ({ limit: EVENTS_SHOWN }) },
  },
  filters: ['period'],
  forms: [],
  names: ({ audit }) => audit.names,
  view: ({ figures, before, days, server, clients, audit }, frame) => ({
    title: 'Overview',
    main: html`<div class="heading">
        <h1>Overview</h1>
        ${periods(frame)}
      </div>
      <p class="sub">
        <span>${new URL(server.issuer).host}</span>
        <span
          >as of ${server.time.slice(11, 16)} UTC, numbers up to the last whole five minutes ·
          <a href="${addressOf(frame, {})}">Refresh</a></span
        >
      </p>
      ${findings(server, frame)} ${toDo(server, clients.clients, frame)} ${tiles({ figures, before, days }, frame)}
      <div class="columns">${chartsOf(figures).first.map(chart)}</div>
      <p><a href="/console/figures?period=${periodOf(frame.place)}">All figures</a></p>
      <div class="columns">
        ${section('Latest activity', feed(frame, audit, { none: 'Nothing has happened yet.' }), html`<a href="/console/audit">All</a>`)}
        ${section('Newest clients', newestClients(frame, clients.clients), html`<a href="/console/clients">All</a>`)}
      </div>`,
  }),
})

/** What needs attention, faults first, each with the screen on which it is mended, or with its remedy; what is fine, as a number. */
function findings({ findings: all }: ServerDocument, frame: Frame): Markup {
  const of = (wanted: string) => all.filter(({ verdict }) => verdict === wanted)
  const [faults, warnings] = [of('failed'), of('warning')]
  const fine = of('ok').length
  const { factorUri } = frame
  return html`<ul class="findings" role="list" aria-label="Needs attention">
    ${faults.map((one) => finding(one, frame))} ${factorUri === undefined ? undefined : oneFactor(factorUri)}
    ${warnings.map((one) => finding(one, frame))}
    ${
      fine === 0
        ? undefined
        : html`<li class="ok">
            ${yesIcon}
            <p class="muted">
              ${fine} of the checks of this page ${fine === 1 ? 'is' : 'are'} fine. ${command('grantor doctor')} also
              asks providers and mail.
            </p>
          </li>`
    }
  </ul>`
}

function finding({ verdict, message, remedy, screen: at }: ServerDocument['findings'][number], frame: Frame): Markup {
  const [path = '', query] = at?.path.split('?', 2) ?? []
  const isThere = at !== null && frame.mayOpen(path) && (query === undefined || frame.mayWrite)
  const mends = isThere ? html`<a class="button" href="${at.path}">${at.label}</a>` : undefined
  const says = isThere || remedy === null ? undefined : html`<p class="muted">${remedy}</p>`
  return html`<li class="${verdict}">
    ${verdict === 'failed' ? noIcon : warnIcon}
    <div>
      <p>${message}</p>
      ${says}
    </div>
    ${mends}
  </li>`
}

function oneFactor(factorUri: string): Markup {
  return html`<li class="warning">
    ${warnIcon}
    <p>You sign in with one factor, and may change everything here.</p>
    <a class="button" href="${href(factorUri)}">Add a second factor</a>
  </li>`
}

/** The first steps, as long as they have not been taken. */
function toDo({ apis, issuer }: ServerDocument, clients: readonly ClientDocument[], { mayWrite }: Frame): Fragment {
  const { label } = requireTask('api.create').words
  const steps = [
    ...(apis > 0
      ? []
      : [
          [
            html`${mayWrite ? html`<a href="/console/apis?ask=api.create">${label}</a>` : label}, so that clients can
            request its scopes`,
            'grantor api create --resource <uri> --scope <name>=<sentence>',
          ] as const,
        ]),
    ...(clients.some(({ used_at: used, client_id: client }) => used !== null && client !== CONSOLE_CLIENT_ID)
      ? []
      : [
          [
            html`<a href="/console/clients">Connect a client</a>`,
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

function newestClients(frame: Frame, clients: readonly ClientDocument[]): Markup {
  if (clients.length === 0) return html`<div class="empty"><p>No client has registered yet.</p></div>`
  return html`<ul class="feed" role="list">
    ${clients.map(
      (client) =>
        html`<li data-row>
          ${clientsIcon}
          <p>
            <a href="${linkTo('clients', client.client_id)}">${name(listedNameOf(client), '(no name)')}</a>
            ${trust(client)}
          </p>
          <span class="when">${registered(client, frame)}</span>
          <p class="meta">
            <span>${dotted([destinationOf(client), useOf(client, frame), blocking(client, frame)])}</span>
          </p>
        </li>`,
    )}
  </ul>`
}

function destinationOf(client: ClientDocument): Fragment {
  return client.redirect_uris.length === 0 ? 'acts without a user' : html`goes to ${goesTo(client)}`
}

function useOf({ last_used_at: last, used_at: first }: ClientDocument, frame: Frame): Fragment {
  const used = last ?? first
  return used === null ? 'never used' : html`used ${time(used, frame)}`
}

/** For an unverified client that has a domain. */
function blocking({ trust_level: level, redirect_uris: uris }: ClientDocument, { mayWrite }: Frame): Fragment {
  const [host] = uris.flatMap((uri) => (viewDestination(uri).kind === 'host' ? [new URL(uri).hostname] : []))
  if (!mayWrite || level !== 'unverified' || host === undefined) return undefined
  const query = new URLSearchParams({ ask: 'domain.block', pattern: host }).toString()
  return html`<a href="/console/domains/new?${query}">Block the domain</a>`
}
