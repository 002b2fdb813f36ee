import type { ClientDocument } from '../../admin/client/document.ts'
import { viewDestination } from '../../clients/destination.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { html, type Markup } from '../../web/markup.ts'
import { linkTo } from '../links.ts'
import { addressOf } from '../engine/addresses.ts'
import { filterBar, nothing, table } from '../list.ts'
import { chip, name, time } from '../parts.ts'
import { CREATE_CLIENT } from './client-forms.ts'
import { isOwn } from '../lock-out.ts'
import { screen } from '../screen.ts'
import type { ChangeForm, Form, Frame, Members } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly clients: readonly ClientDocument[]; readonly next: string | null }
}

const isDisabled = (client: Members): boolean => client['disabled_at'] !== null
const isOperators = (client: Members): boolean => client['source'] === 'operator'
const isVerified = (client: Members): boolean => client['verified_at'] !== null || isOperators(client)

/** What can be done with a client, in a list and on its page. */
export const CLIENT_FORMS: readonly ChangeForm[] = [
  {
    kind: 'change',
    task: 'client.verify',
    says: {
      label: 'Verify',
      done: 'Verified',
      undo: 'client.unverify',
      already: { text: 'Already verified', holds: isVerified },
    },
  },
  {
    kind: 'change',
    task: 'client.unverify',
    says: {
      label: 'Unverify',
      done: 'No longer verified',
      undo: 'client.verify',
      already: { text: 'Not verified before', holds: (client) => !isVerified(client) },
    },
    fits: (client) => !isOperators(client),
  },
  {
    kind: 'change',
    task: 'client.disable',
    says: {
      label: 'Disable',
      done: 'Disabled',
      undo: 'client.enable',
      already: { text: 'Already disabled', holds: isDisabled },
    },
  },
  {
    kind: 'change',
    task: 'client.enable',
    says: {
      label: 'Enable',
      done: 'Enabled',
      undo: 'client.disable',
      already: { text: 'Already enabled', holds: (client) => !isDisabled(client) },
    },
  },
  {
    kind: 'change',
    task: 'client.revoke-tokens',
    says: {
      label: 'Revoke all tokens',
      done: 'All tokens revoked',
      warning:
        'Every token of the client stops working, and each of its users has to allow it again. To stop a client, disable it: that can be undone.',
      isRecent: true,
      isFinal: true,
    },
  },
  {
    kind: 'change',
    task: 'client.delete',
    says: {
      label: 'Delete',
      done: 'Deleted',
      warning:
        'The client, its tokens and its installations end, and cannot be restored. To stop a client, disable it: that can be undone.',
      isRecent: true,
      isFinal: true,
    },
    leadsTo: () => '/console/clients',
  },
]

/** Deletes what the filters of the list find. */
const PURGE: Form = {
  kind: 'change',
  task: 'client.purge',
  says: {
    label: 'Delete all that match',
    done: 'Deleted',
    warning:
      'These clients, their tokens and their installations end, and cannot be restored. Clients that registered just now match too. Clients that ever got a token match only with the filter Used, and may then have live grants; those that an operator created match only with the filter Source.',
    isRecent: true,
    isFinal: true,
  },
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
    main: html`<div class="heading">
        <h1>Clients</h1>
        ${
          frame.mayWrite && frame.filters.some(({ value }) => value !== undefined) && list.clients.length > 0
            ? html`<a class="button danger" href="${addressOf(frame, { ask: PURGE.task, before: undefined })}"
                >${PURGE.says.label}…</a
              >`
            : undefined
        }
        ${frame.mayWrite ? html`<a class="button" href="?ask=${CREATE_CLIENT.task}">${CREATE_CLIENT.says.label}</a>` : undefined}
      </div>
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
          { heading: 'Name', cell: clientLink },
          { heading: 'Goes to', cell: (client) => goesTo(client) },
          { heading: 'Trust', cell: (client) => trust(client) },
          { heading: 'Source', isWide: true, cell: (row) => SOURCES[row.source] },
          { heading: 'Registered', isWide: true, cell: (client) => registered(client, frame) },
          { heading: 'Last used', cell: (client) => time(client.last_used_at ?? client.used_at, frame) },
        ],
      })}`,
  }),
})

/** How a client came to the server. */
export const SOURCES = { operator: 'created', registration: 'registered', document: 'document' } as const

function clientLink(client: ClientDocument): Markup {
  return html`<a href="${linkTo('clients', client.client_id)}">${name(listedNameOf(client), '(no name)')}</a>`
}

/** Where the browser of a user goes with a code. */
export function goesTo({ redirect_uris: uris }: Pick<ClientDocument, 'redirect_uris'>): Markup {
  const hosts = [...new Set(uris.map(destination))]
  const [first, ...others] = hosts
  if (first === undefined) return html`<span class="muted">nowhere</span>`
  return html`<bdi>${first}</bdi
    >${others.length === 0 ? undefined : html` <span class="muted">and ${others.length} more</span>`}`
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
