import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { html, type Markup } from '../../../web/markup.ts'
import type { Frame } from '../../engine/form.ts'
import { fromList, linkTo } from '../../links.ts'
import { askLinks } from '../../engine/buttons.ts'
import { filterBar, listHeading, nothing, table } from '../../list.ts'
import { chip, id, name, time } from '../../parts.ts'
import { screen } from '../../screen.ts'

interface Answers {
  readonly list: { readonly organizations: readonly OrganizationDocument[]; readonly next: string | null }
}

export const ORGANIZATIONS = screen<Answers>({
  path: '/console/organizations',
  section: 'organizations',
  reads: { list: { task: 'organization.list', input: () => ({}) } },
  filters: ['name'],
  forms: [
    {
      kind: 'create',
      task: 'organization.create',
      fields: ['name', 'organization_id'],
      leadsTo: ({ organization_id: organization }) => linkTo('organizations', String(organization)),
    },
  ],
  names: ({ list }) => Object.fromEntries(list.organizations.map((one) => [one.organization_id, one.name])),
  view: ({ list }, frame) => ({
    title: 'Organizations',
    main: html`${listHeading(frame, 'Organizations', { shown: list.organizations.length, next: list.next }, askLinks(frame, 'organization.create'))}
    ${filterBar(frame)}
    ${table(frame, {
      caption: 'Organizations, newest first',
      rows: list.organizations,
      next: list.next,
      empty: nothing(
        frame,
        'An organization is a company or a team, for which its members and programs act.',
        'grantor org create <name>',
      ),
      columns: [
        { heading: 'Name', cell: (one) => organizationLink(one, frame) },
        { heading: 'State', role: 'badge', cell: organizationState },
        { heading: 'Id', cell: (one) => id(one.organization_id) },
        { heading: 'Created', role: 'meta', cell: (one) => time(one.created_at, frame) },
      ],
    })}`,
  }),
})

function organizationLink({ organization_id: organization, name: text }: OrganizationDocument, frame: Frame): Markup {
  return html`<a href="${fromList(frame, linkTo('organizations', organization))}">${name(text, '(no name)')}</a>`
}

export function organizationState({ disabled_at: disabled }: Pick<OrganizationDocument, 'disabled_at'>): Markup {
  return disabled === null ? chip('Active', 'good') : chip('Disabled', 'bad')
}
