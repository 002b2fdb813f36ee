import { forShell } from '../../../base/shell.ts'
import type { InstallationDocument } from '../../../admin/organization/installation.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { code, html, type Markup } from '../../../web/markup.ts'
import { linkFor } from '../../links.ts'
import { chip, command, formOf, id, name, nothing, scopes, table, time, type Column } from '../../parts.ts'
import { screen, type Frame, type Members, type ScreenForm } from '../../screen.ts'
import { organizationName } from './members.ts'

interface Answers {
  readonly list: { readonly installations: readonly InstallationDocument[]; readonly next: string | null }
  readonly organization: OrganizationDocument
}

const isDisabled = (row: Members): boolean => row['disabled_at'] !== null

/** What is done with chosen installations. */
const ROW_FORMS: readonly ScreenForm[] = [
  {
    task: 'installation.disable',
    label: 'Disable',
    done: 'Disabled',
    undo: 'installation.enable',
    undoNote: 'Tokens stay revoked if the installation is enabled again.',
    warning:
      'Tokens of the client for the organization stop working. Enabling the installation again does not restore them.',
    already: { text: 'Already disabled', holds: isDisabled },
  },
  {
    task: 'installation.enable',
    label: 'Enable',
    done: 'Enabled',
    already: { text: 'Already enabled', holds: (row) => !isDisabled(row) },
  },
  {
    task: 'installation.remove',
    label: 'Remove',
    done: 'Removed',
    isRecent: true,
    isDanger: true,
    warning: 'The client can no longer act for the organization, and its tokens for it stop working. The client stays.',
  },
]

/** The clients that may act for an organization without a user. To install one gives it rights. */
export const INSTALLATIONS = screen<Answers>({
  path: '/console/organizations/{organization_id}/installations',
  section: 'installations',
  reads: {
    list: { task: 'installation.list', input: () => ({}) },
    organization: { task: 'organization.show', input: () => ({}) },
  },
  filters: [],
  forms: [
    ...ROW_FORMS.map((form) => ({ ...form, subject: 'client_id', isBulk: true as const, rows: rowsOf })),
    {
      task: 'installation.install',
      label: 'Install a client',
      done: 'Installed',
      fields: ['client_id', 'scope', 'acts_for_members'],
      isRecent: true,
      warning:
        'The client can then act for the organization without a user. Without scopes its tokens name the organization and allow nothing else. An earlier installation of the client is replaced, and its tokens are revoked.',
    },
  ],
  names: ({ list }) => Object.fromEntries(list.installations.map((one) => [one.client_id, labelOf(one)])),
  view: ({ list, organization }, frame) => ({
    title: `Installations for ${organization.name}`,
    main: html`<div class="heading">
        <h1>Installations for ${organizationName(frame, organization)}</h1>
        ${
          formOf(frame, 'installation.install').length === 0
            ? undefined
            : html`<a class="button" href="?ask=installation.install">Install a client</a>`
        }
      </div>
      ${table(frame, {
        caption: 'Installed clients, newest clients first',
        rows: list.installations,
        next: list.next,
        idOf: (one) => one.client_id,
        labelOf,
        empty: nothing(
          frame,
          'Clients appear here that may act for the organization without a user.',
          frame.organization === undefined
            ? `grantor org install ${forShell(organization.organization_id)} <client> --scope <scope>`
            : undefined,
        ),
        columns: installationColumns(frame),
      })}
      ${list.installations.length === 0 ? undefined : tokenRequest(organization.organization_id)}`,
  }),
})

/** How an installed client gets a token for the organization. */
function tokenRequest(organizationId: string): Markup {
  const request = `curl <issuer>/v2/oauth/token -u <client>:<secret> -d grant_type=client_credentials -d org_id=${forShell(organizationId)} --data-urlencode resource=<API> --data-urlencode scope=<scope>`
  return html`<p class="hint">
      An installed client gets a token for the organization with ${code('org_id')}. Without ${code('resource')} and
      ${code('scope')} the token is for this server, and for no API.
    </p>
    ${command(request)}`
}

function rowsOf(answers: Members): Readonly<Record<string, Members>> {
  const { list } = answers as unknown as Answers
  return Object.fromEntries(list.installations.map((one) => [one.client_id, one]))
}

function labelOf({ client_name: text, client_id: client }: InstallationDocument): string {
  return text ?? client
}

export function installationColumns(frame: Frame): [Column<InstallationDocument>, ...Column<InstallationDocument>[]] {
  return [
    {
      heading: 'Client',
      cell({ client_id: client, client_name: text }) {
        const to = linkFor(frame, 'clients', client)
        const shown = text === null ? id(client) : name(text, '(no name)')
        return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
      },
    },
    { heading: 'Scopes', cell: ({ scope }) => scopes(scope) },
    {
      heading: 'For members',
      cell: ({ acts_for_members: acts }) => (acts ? 'yes' : html`<span class="muted">no</span>`),
    },
    {
      heading: 'State',
      cell: ({ disabled_at: at }) => (at === null ? chip('Active', 'good') : chip('Disabled', 'bad')),
    },
    { heading: 'Installed', cell: (one) => time(one.created_at, frame) },
  ]
}
