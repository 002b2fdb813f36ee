import { forShell } from '../../../base/shell.ts'
import type { ClientDocument } from '../../../admin/client/document.ts'
import type { InstallationDocument } from '../../../admin/organization/installation.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { PAGE_LIMIT } from '../../../admin/page.ts'
import { listedNameOf } from '../../../protocol/client/identity.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { linkFor, linkTo } from '../../links.ts'
import { actions, formOf } from '../../engine/buttons.ts'
import { listHeading, nothing, table, type Column } from '../../list.ts'
import { chip, id, name, scopes, section, snippet, time } from '../../parts.ts'
import { requestCommand } from '../apis/recipes.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from './organization-tabs.ts'
import { screen } from '../../screen.ts'
import {
  changes,
  formWords,
  type ChangeForm,
  type CreateForm,
  type Frame,
  type Members,
  type Offered,
} from '../../engine/form.ts'
import { organizationName } from './members.ts'

interface Answers extends HeadAnswers {
  readonly list: { readonly installations: readonly InstallationDocument[]; readonly next: string | null }
}

/** What is done with chosen installations. */
const ROW_FORMS: readonly ChangeForm[] = changes('installation.disable', 'installation.enable', 'installation.remove')

const INSTALL: CreateForm = {
  kind: 'create',
  task: 'installation.install',
  fields: ['client_id', 'scope', 'acts_for_members'],
}

/** The clients that may act for an organization without a user. To install one gives it rights. */
export const INSTALLATIONS = screen<Answers>({
  path: '/console/organizations/{organization_id}/installations',
  section: 'installations',
  reads: {
    list: { task: 'installation.list', input: () => ({}) },
    ...HEAD_READS,
  },
  filters: [],
  forms: [
    ...ROW_FORMS.map((form) => ({
      ...form,
      rows: { member: 'client_id', isBulk: true, read: rowsOf } as const,
    })),
    INSTALL,
  ],
  about: ({ organization }) => organization.name,
  names: ({ list }) => Object.fromEntries(list.installations.map((one) => [one.client_id, labelOf(one)])),
  view: (answers, frame) => ({
    title: `Installations for ${answers.organization.name}`,
    main: html`${heading(answers, frame)}
    ${table(frame, {
      caption: 'Installed clients, newest clients first',
      rows: answers.list.installations,
      next: answers.list.next,
      idOf: (one) => one.client_id,
      labelOf,
      empty: nothing(
        frame,
        'Clients appear here that may act for the organization without a user.',
        frame.organization === undefined
          ? `grantor org install ${forShell(answers.organization.organization_id)} <client> --scope <scope>`
          : undefined,
      ),
      columns: installationColumns(frame),
    })}
    ${
      answers.list.installations.length === 0
        ? undefined
        : section(
            'How an installed client gets a token',
            html`<p class="hint">
                The client names the organization by the parameter org_id, and the API by resource or by a scope of it.
                Without both, the audience (aud) of the token is the issuer.
              </p>
              ${snippet('A token request for the organization', exampleOf(frame, answers.list.installations))}`,
          )
    }`,
  }),
})

function heading(answers: Answers, frame: Frame): Markup {
  const { list, organization } = answers
  const button =
    formOf(frame, INSTALL.task).length === 0
      ? undefined
      : html`<a class="button" href="${installAddress(frame, organization)}">${formWords(INSTALL).label}</a>`
  const title = html`Installations for ${organizationName(frame, organization)}`
  return (
    organizationHead(frame, answers, 'installations', html`<div class="actions">${button}</div>`) ??
    listHeading(frame, title, { shown: list.installations.length, next: list.next }, button)
  )
}

/** The request for the newest installation that allows it. `method`: how the client authenticates, if that is known. */
export function exampleOf({ issuer }: Frame, installations: Answers['list']['installations'], method?: string): string {
  const usable = installations.filter(({ disabled_at: disabled }) => disabled === null)
  const one = usable.find(({ scope }) => scope !== '') ?? usable[0]
  const { client_id: client = '…', organization_id: organization = '…', scope = '' } = one ?? {}
  const members = { org_id: organization, ...(scope === '' ? { resource: '…' } : { scope }) }
  return requestCommand(issuer, client, members, method)
}

interface NewAnswers {
  readonly organization: OrganizationDocument
  readonly clients: { readonly clients: readonly ClientDocument[] }
}

/** The same form with the clients to choose from, which a role for one organization does not see. */
export const NEW_INSTALLATION = screen<NewAnswers>({
  path: '/console/organizations/{organization_id}/installations/new',
  section: 'installations',
  reads: {
    organization: { task: 'organization.show', input: () => ({}) },
    clients: { task: 'client.list', input: () => ({ source: 'operator', limit: PAGE_LIMIT.most }) },
  },
  filters: [],
  forms: [
    {
      ...INSTALL,
      choices: (answers) => ({ client_id: installable(answers as unknown as NewAnswers) }),
      leadsTo: ({ organization_id: organization }) => `${linkTo('organizations', String(organization))}/installations`,
    },
  ],
  about: ({ organization }) => organization.name,
  names: () => ({}),
  view: ({ organization }, frame) => ({
    title: formWords(INSTALL).label,
    main: html`<div class="heading">
        <h1>${formWords(INSTALL).label}</h1>
        ${actions(frame, formOf(frame, INSTALL.task))}
      </div>
      <p>
        <a href="${linkTo('organizations', organization.organization_id)}/installations">Installations</a> for
        ${organizationName(frame, organization)}
      </p>`,
  }),
})

const SUGGESTED = 100

/** The newest clients of the operator that can act without a user. */
function installable({ clients: { clients } }: NewAnswers): Offered[string] {
  return clients
    .filter(({ grant_types: types }) => types.includes('client_credentials'))
    .slice(0, SUGGESTED)
    .map((client) => [client.client_id, listedNameOf(client) ?? ''])
}

/** Where a client is installed. The screen with the clients is of the server. */
function installAddress({ organization: own }: Frame, { organization_id: object }: OrganizationDocument): string {
  const path = `${linkTo('organizations', object)}/installations`
  return `${own === undefined ? `${path}/new` : path}?ask=${INSTALL.task}`
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
      role: 'meta',
      cell: ({ acts_for_members: acts }) => (acts ? 'yes' : html`<span class="muted">no</span>`),
    },
    {
      heading: 'State',
      role: 'badge',
      cell: ({ disabled_at: at }) => (at === null ? chip('Active', 'good') : chip('Disabled', 'bad')),
    },
    { heading: 'Installed', role: 'meta', cell: (one) => time(one.created_at, frame) },
  ]
}
