import type { InstallationDocument } from '../../../admin/organization/installation.ts'
import type { MemberDocument } from '../../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import type { ProviderDocument } from '../../../admin/provider/settings.ts'
import { requireTask } from '../../../admin/tasks.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { linkTo, listAddress } from '../../links.ts'
import { actions, formsFor } from '../../engine/buttons.ts'
import { table } from '../../list.ts'
import { facts, id, name, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { changes, type Form, type Frame } from '../../engine/form.ts'
import { EVENTS_SHOWN } from '../audit.ts'
import { feed, type ListedEvents } from '../../feed.ts'
import { installAddress, installationColumns } from './installations.ts'
import { memberColumns } from './members.ts'
import { organizationState } from './organizations.ts'

interface Answers {
  readonly organization: OrganizationDocument
  readonly members: { readonly members: readonly MemberDocument[]; readonly next: string | null }
  readonly installations:
    | { readonly installations: readonly InstallationDocument[]; readonly next: string | null }
    | undefined
  readonly providers: { readonly providers: readonly ProviderDocument[]; readonly next: string | null } | undefined
  readonly audit: ListedEvents | undefined
}

const ROWS_SHOWN = 10

const FORMS: readonly Form[] = [
  {
    kind: 'edit',
    task: 'organization.rename',
    fields: ['name'],
    filled: (answers) => ({ name: (answers as unknown as Answers).organization.name }),
  },
  ...changes('organization.disable', 'organization.enable', 'organization.revoke-tokens'),
  {
    kind: 'change',
    task: 'organization.delete',
    leadsTo: () => '/console/organizations',
  },
]

/** One organization. A role for it does not have this page, which also shows what is of the server. */
export const ORGANIZATION = screen<Answers>({
  path: '/console/organizations/{organization_id}',
  section: 'organizations',
  reads: {
    organization: { task: 'organization.show', input: () => ({}) },
    members: { task: 'member.list', input: () => ({ limit: ROWS_SHOWN }) },
    installations: { task: 'installation.list', input: () => ({ limit: ROWS_SHOWN }), isOptional: true },
    providers: {
      task: 'provider.list',
      input: ({ parameters }) => ({ organization_id: parameters['organization_id'], limit: ROWS_SHOWN }),
      isOptional: true,
    },
    audit: {
      task: 'audit.list',
      input: ({ parameters }) => ({ organization_id: parameters['organization_id'], limit: EVENTS_SHOWN }),
      isOptional: true,
    },
  },
  filters: [],
  forms: FORMS,
  names: ({ organization }) => ({ '': organization.name }),
  view({ organization, members, installations, providers, audit }, frame) {
    const { organization_id: object } = organization
    const path = linkTo('organizations', object)
    const final = formsFor(frame, object, organization, true)
    return {
      title: organization.name,
      main: html`<div class="heading">
          <h1>${name(organization.name, '(no name)')}</h1>
          ${organizationState(organization)} ${actions(frame, formsFor(frame, object, organization, false))}
        </div>
        <p class="sub">${id(object)} <span>created ${time(organization.created_at, frame)}</span></p>
        ${facts([
          ['Grants', html`<a href="${path}/grants">What members allowed for it</a>`],
          ['Providers', providers === undefined ? undefined : providersOf(providers, object)],
          ['Disabled', organization.disabled_at === null ? undefined : time(organization.disabled_at, frame)],
          [
            'Tokens revoked',
            organization.not_before === organization.created_at
              ? undefined
              : html`all from before ${time(organization.not_before, frame)}`,
          ],
        ])}
        ${section(
          'Members',
          table(frame, {
            caption: 'Members, newest users first',
            rows: members.members,
            empty: html`<p>No user is a member.</p>`,
            columns: memberColumns(frame),
          }),
          aside(frame, `${path}/members`, `${path}/members?ask=member.add`, requireTask('member.add').words.label),
        )}
        ${
          installations === undefined
            ? undefined
            : section(
                'Installations',
                table(frame, {
                  caption: 'Installed clients, newest clients first',
                  rows: installations.installations,
                  empty: html`<p>No client is installed.</p>`,
                  columns: installationColumns(frame),
                }),
                aside(
                  frame,
                  `${path}/installations`,
                  installAddress(frame, organization),
                  requireTask('installation.install').words.label,
                ),
              )
        }
        ${audit === undefined ? undefined : section('Events', feed(frame, audit, { own: object, none: 'Nothing has happened for this organization lately.' }), html`<a href="${listAddress('audit', 'organization_id', object)}">All</a>`)}
        ${final.length === 0 ? undefined : html`<section>${actions(frame, final)}</section>`}`,
    }
  },
})

/** The whole list, and the form that adds to it. */
function aside({ mayWrite }: Frame, list: string, form: string, label: string): Markup {
  return html`<span class="actions"
    ><a class="button" href="${list}">All</a>
    ${mayWrite ? html`<a class="button" href="${form}">${label}</a>` : undefined}</span
  >`
}

/** At which members sign in, and whose addresses they prove. */
function providersOf({ providers: own, next }: NonNullable<Answers['providers']>, organization: string): Fragment {
  if (own.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${own.map(
      ({ provider_id: provider, domains }) =>
        html`<li>
          ${code(provider)}
          ${domains.length === 0 ? undefined : html`<span class="muted">for</span> <bdi>${domains.join(', ')}</bdi>`}
        </li>`,
    )}
    ${next === null ? undefined : html`<li><a href="${listAddress('providers', 'organization_id', organization)}">All</a></li>`}
  </ul>`
}
