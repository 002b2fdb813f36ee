import type { ClientDocument } from '../../admin/client/document.ts'
import { viewDestination } from '../../clients/destination.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { html, type Markup } from '../../web/markup.ts'
import { fromList, linkTo } from '../links.ts'
import { addressOf } from '../engine/addresses.ts'
import { askLinks } from '../engine/buttons.ts'
import { filterBar, listHeading, nothing, table } from '../list.ts'
import { chip, name, time } from '../parts.ts'
import { CREATE_CLIENT } from './client-forms.ts'
import { isOwn } from '../lock-out.ts'
import { screen } from '../screen.ts'
import { changes, formWords, type ChangeForm, type Form, type Frame, type Members } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly clients: readonly ClientDocument[]; readonly next: string | null }
}

const isOperators = (client: Members): boolean => client['source'] === 'operator'

/** What can be done with a client, in a list and on its page. */
export const CLIENT_FORMS: readonly ChangeForm[] = [
  ...changes('client.verify'),
  {
    kind: 'change',
    task: 'client.unverify',
    fits: (client) => !isOperators(client),
  },
  ...changes('client.disable', 'client.enable', 'client.revoke-tokens'),
  {
    kind: 'change',
    task: 'client.delete',
    leadsTo: () => '/console/clients',
  },
]

/** Deletes what the filters of the list find. */
const PURGE: Form = {
  kind: 'change',
  task: 'client.purge',
  rows: {
    matching: (answer) => ({
      names: (answer as unknown as Purged).clients.map((client) => listedNameOf(client) ?? null),
      next: (answer as unknown as Purged).next,
    }),
  },
}

interface Purged {
  readonly clients: readonly ClientDocument[]
  readonly next: string | null
}

export const CLIENTS = screen<Answers>({
  path: '/console/clients',
  section: 'clients',
  reads: { list: { task: 'client.list', input: () => ({}) } },
  filters: ['text', 'host', 'trust_level', 'source', 'used', 'disabled'],
  forms: [
    ...CLIENT_FORMS.map((form) => ({ ...form, rows: { member: 'client_id', isBulk: true } as const })),
    PURGE,
    CREATE_CLIENT,
  ],
  names: ({ list }) => Object.fromEntries(list.clients.map((client) => [client.client_id, listedNameOf(client) ?? ''])),
  view: ({ list }, frame) => ({
    title: 'Clients',
    main: html`${listHeading(
      frame,
      'Clients',
      { shown: list.clients.length, next: list.next },
      html`<div class="actions">
        ${
          frame.mayWrite && frame.filters.some(({ value }) => value !== undefined) && list.clients.length > 0
            ? html`<a class="button danger" href="${addressOf(frame, { ask: PURGE.task, before: undefined })}"
                >${formWords(PURGE).label}…</a
              >`
            : undefined
        }
        ${askLinks(frame, CREATE_CLIENT.task)}
      </div>`,
    )}
    ${filterBar(frame)}
    ${table(frame, {
      caption: 'Clients, newest first',
      rows: list.clients,
      next: list.next,
      idOf: (client) => client.client_id,
      isLeftOut: (client) => isOwn(client.client_id, frame.self),
      labelOf: (client) => listedNameOf(client) ?? client.client_id,
      empty: nothing(
        frame,
        'Clients appear here when they register, when their metadata document is used, or when you create one.',
        'grantor client create --name <name> --redirect-uri <uri>',
      ),
      columns: [
        { heading: 'Name', cell: (client) => clientLink(client, frame) },
        { heading: 'Goes to', cell: (client) => goesTo(client) },
        { heading: 'Trust', role: 'badge', cell: (client) => trust(client) },
        { heading: 'Source', isWide: true, cell: (row) => SOURCES[row.source] },
        { heading: 'Registered', isWide: true, cell: (client) => registered(client, frame) },
        { heading: 'Last used', role: 'meta', cell: (client) => time(client.last_used_at ?? client.used_at, frame) },
      ],
    })}`,
  }),
})

/** How a client came to the server. */
const SOURCES = { operator: 'created', registration: 'registered', document: 'document' } as const

function clientLink(client: ClientDocument, frame: Frame): Markup {
  return html`<a href="${fromList(frame, linkTo('clients', client.client_id))}"
    >${name(listedNameOf(client), '(no name)')}</a
  >`
}

/** Where the browser of a user goes with a code. */
export function goesTo(client: Pick<ClientDocument, 'redirect_uris'>): Markup {
  const [first, ...others] = destinations(client)
  if (first === undefined) return html`<span class="muted">nowhere</span>`
  return html`<bdi>${first}</bdi
    >${others.length === 0 ? undefined : html` <span class="muted">and ${others.length} more</span>`}`
}

/** Each once. */
export function destinations({ redirect_uris: uris }: Pick<ClientDocument, 'redirect_uris'>): readonly string[] {
  return [...new Set(uris.map(destination))]
}

function destination(uri: string): string {
  const to = viewDestination(uri)
  switch (to.kind) {
    case 'host':
      return to.host
    case 'this-computer':
      return 'this computer'
    case 'app':
      return `app ${to.scheme}:`
  }
}

export function trust(client: ClientDocument): Markup {
  if (client.disabled_at !== null) return chip('Disabled', 'bad')
  switch (client.trust_level) {
    case 'verified':
      return chip('Verified', 'good')
    case 'known-domain':
      return chip('Known domain', 'good')
    case 'unverified':
      return chip('Unverified', 'caution')
    case 'blocked':
      return chip('Blocked', 'bad')
  }
}

export function registered({ client_id_issued_at: seconds }: ClientDocument, frame: Frame): Markup {
  return time(new Date(seconds * 1000).toISOString(), frame)
}
