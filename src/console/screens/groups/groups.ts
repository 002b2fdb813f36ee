import type { ListedGroupDocument } from '../../../admin/group/tasks.ts'
import { forShell } from '../../../base/shell.ts'
import { code, html, type Markup } from '../../../web/markup.ts'
import { askLinks } from '../../engine/buttons.ts'
import type { Frame } from '../../engine/form.ts'
import { fromList, linkFor, linkTo } from '../../links.ts'
import { filterBar, listHeading, nothing, table, type Column } from '../../list.ts'
import { id, name, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from '../organizations/organization-tabs.ts'
import { protection } from './group.ts'

interface Answers {
  readonly list: { readonly groups: readonly ListedGroupDocument[]; readonly next: string | null }
}

/** All groups. Those of an organization are created on its page. */
export const GROUPS = screen<Answers>({
  path: '/console/groups',
  section: 'groups',
  reads: { list: { task: 'group.list', input: () => ({}) } },
  filters: ['name'],
  forms: [
    {
      kind: 'create',
      task: 'group.create',
      fields: ['group_id', 'name', 'protected'],
      preset: () => ({ protected: false }),
      leadsTo: ({ group_id: object }) => linkTo('groups', String(object)),
    },
  ],
  names: () => ({}),
  view: ({ list }, frame) => ({
    title: 'Groups',
    main: html`${listHeading(frame, 'Groups', { shown: list.groups.length, next: list.next }, askLinks(frame, 'group.create'))}
    ${groupTable(frame, list, 'grantor group create <id>')}`,
  }),
})

/** The groups of one organization. Whether one is protected is said on its page for a role for the server. */
export const ORGANIZATION_GROUPS = screen<Answers & HeadAnswers>({
  path: '/console/organizations/{organization_id}/groups',
  section: 'groups',
  reads: { list: { task: 'organization-group.list', input: () => ({}) }, ...HEAD_READS },
  filters: ['name'],
  forms: [{ kind: 'create', task: 'organization-group.create', fields: ['group_id', 'name'] }],
  names: () => ({}),
  about: ({ organization }) => organization.name,
  view(answers, frame) {
    const { list, organization } = answers
    const title = `Groups of ${organization.name}`
    const buttons = html`<div class="actions">${askLinks(frame, 'organization-group.create')}</div>`
    const head =
      organizationHead(frame, answers, 'groups', buttons) ??
      listHeading(
        frame,
        html`Groups of <bdi>${organization.name}</bdi>`,
        { shown: list.groups.length, next: list.next },
        buttons,
      )
    // A role for the organization has no command line.
    const example =
      frame.organization === undefined
        ? `grantor group create <id> --organization ${forShell(organization.organization_id)}`
        : undefined
    return { title, main: html`${head} ${groupTable(frame, list, example)}` }
  },
})

/** `example`: the command that makes the first group. */
function groupTable(frame: Frame, { groups, next }: Answers['list'], example: string | undefined): Markup {
  const isOfAll = frame.place.parameters['organization_id'] === undefined
  return html`${filterBar(frame)}
  ${table(frame, {
    caption: 'Groups, the last id first',
    rows: groups,
    next,
    empty: nothing(frame, 'A group is a list of users. Applications and APIs read in which groups a user is.', example),
    columns: [
      { heading: 'Name', cell: (group) => nameLink(frame, group) },
      { heading: 'Id', cell: ({ group_id: object }) => code(object) },
      { heading: 'Protected', role: 'badge', cell: (group) => protection(group) },
      ...(isOfAll ? [ownerIn(frame)] : []),
      { heading: 'Created', role: 'meta', cell: ({ created_at: at }) => time(at, frame) },
    ],
  })}`
}

function ownerIn(frame: Frame): Column<ListedGroupDocument> {
  return {
    heading: 'Organization',
    isWide: true,
    cell: ({ organization_id: owner }) =>
      owner === null ? html`<span class="muted none">–</span>` : id(owner, linkFor(frame, 'organizations', owner)),
  }
}

function nameLink(frame: Frame, { group_id: object, name: text }: ListedGroupDocument): Markup {
  const to = linkFor(frame, 'groups', object)
  const shown = name(text, '(no name)')
  return to === undefined ? shown : html`<a href="${fromList(frame, to)}">${shown}</a>`
}
