import { namedBy, type Naming } from '../../../admin/group/group.ts'
import type { GroupMemberDocument, ShownGroupDocument } from '../../../admin/group/tasks.ts'
import { organizationOfGroup, type GroupId } from '../../../protocol/access/group.ts'
import { nameUser } from '../../../protocol/sign-in/account.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { buttonsWithMore, formOf, mainAskLink } from '../../engine/buttons.ts'
import type { ChosenRows, Form, Frame, Members } from '../../engine/form.ts'
import { apisIcon, clientsIcon, lockIcon, providersIcon, rulesIcon } from '../../icons.ts'
import { linkFor, linkTo, rulePath } from '../../links.ts'
import { table } from '../../list.ts'
import { chip, id, name, section, thingHeading, time } from '../../parts.ts'
import { screen, type AnyScreen } from '../../screen.ts'
import { organizationPath } from '../../sections.ts'

interface Answers {
  readonly list: { readonly members: readonly GroupMemberDocument[]; readonly next: string | null }
  readonly group: ShownGroupDocument
}

/** A row is what one source says of a user. */
const ROWS: ChosenRows = {
  member: 'user_id',
  isBulk: true,
  read: (answers) => Object.fromEntries(inAnswers(answers).list.members.map((one) => [rowOf(one), one])),
  keeps: (row) => ({ user_id: row['user_id'], source: row['source'] }),
}

/** A group of any owner, for a role for the server, which says whether it is protected. */
export const GROUP = groupScreen('group', '/console/groups/{group_id}', ['name', 'protected', 'confirmed'])

export const ORGANIZATION_GROUP = groupScreen(
  'organization-group',
  '/console/organizations/{organization_id}/groups/{group_id}',
  ['name'],
)

type Noun = 'group' | 'organization-group'

/** `changed`: what the form of the group has. */
function groupScreen(noun: Noun, path: string, changed: readonly string[]): AnyScreen {
  return screen<Answers>({
    path,
    section: 'groups',
    reads: {
      list: { task: `${noun}.list-members`, input: () => ({}) },
      group: { task: `${noun}.show`, input: () => ({}) },
    },
    filters: [],
    forms: formsOf(noun, changed),
    names: ({ list, group }) => ({
      ...Object.fromEntries(list.members.map((one) => [rowOf(one), rowLabel(one)])),
      '': group.name,
    }),
    about: ({ group }) => group.name,
    view: (answers, frame) => ({ title: answers.group.name, main: groupPage(answers, frame, noun) }),
  })
}

function formsOf(noun: Noun, changed: readonly string[]): readonly Form[] {
  return [
    { kind: 'create', task: `${noun}.add-member`, fields: ['email', 'user_id', 'until', 'confirmed'] },
    { kind: 'edit', task: `${noun}.update`, fields: changed, filled: (answers) => inAnswers(answers).group },
    { kind: 'change', task: `${noun}.remove-member`, rows: ROWS },
    {
      kind: 'change',
      task: `${noun}.delete`,
      caution: (answers) => {
        const { group_id: object, named_by: by } = inAnswers(answers).group
        return by.length === 0 ? undefined : namedBy(object as GroupId, by).message
      },
      leadsTo: ({ group_id: object }) => listOf(noun, object as GroupId),
    },
  ]
}

function listOf(noun: Noun, object: GroupId): string {
  const owner = noun === 'group' ? undefined : organizationOfGroup(object)
  return `${owner === undefined ? '/console' : organizationPath(owner)}/groups`
}

/** The id of the user, and of what others than an administrator say the source too. */
function rowOf({ user_id: user, source: by }: GroupMemberDocument): string {
  return by === 'operator' ? user : `${user} ${by}`
}

function inAnswers(answers: Members): Answers {
  return answers as unknown as Answers
}

function labelOf(member: Pick<GroupMemberDocument, 'user_id' | 'email' | 'name'>): string {
  return nameUser({ ...member, id: member.user_id })
}

/** What a row is called where the columns are not beside it. */
function rowLabel({ source: by, ...member }: GroupMemberDocument): string {
  const own = labelOf(member)
  return by === 'operator' ? own : `${own} (${by})`
}

function groupPage({ list, group }: Answers, frame: Frame, noun: Noun): Markup {
  const { group_id: object, organization_id: owner, created_at: at } = group
  const ofOwner =
    owner === null ? undefined : html`<span>of ${id(owner, linkFor(frame, 'organizations', owner))}</span>`
  const known = html`${id(object)} ${ofOwner} <span>created ${time(at, frame)}</span>`
  return html`${thingHeading(group.name, protection(group), known, buttons(frame, noun))}
  ${section('Members', members(frame, list))} ${section('What names the group', naming(frame, group.named_by))}`
}

/** Whether a group is protected, as a state beside its name. */
export function protection({ protected: isProtected }: { readonly protected: boolean }): Markup | undefined {
  return isProtected ? chip('Protected', 'caution') : undefined
}

function buttons(frame: Frame, noun: Noun): Markup | undefined {
  return buttonsWithMore(frame, {
    before: mainAskLink(frame, `${noun}.add-member`),
    lead: formOf(frame, `${noun}.update`),
    main: undefined,
    rest: formOf(frame, `${noun}.delete`),
    ending: [],
    labelOf: () => undefined,
  })
}

function members(frame: Frame, { members: rows, next }: Answers['list']): Markup {
  return table(frame, {
    caption: 'Members, newest users first',
    rows,
    next,
    idOf: rowOf,
    labelOf: rowLabel,
    empty: html`<p>The group has no members.</p>`,
    columns: [
      { heading: 'User', cell: (member) => person(frame, member) },
      { heading: 'Name', isWide: true, cell: (member) => name(member.name, '–') },
      { heading: 'State', role: 'badge', cell: (member) => stateOf(member, frame) },
      { heading: 'Said by', cell: (member) => sourceOf(member.source) },
      { heading: 'Until', role: 'meta', cell: (member) => endOf(member, frame) },
      { heading: 'Since', isWide: true, cell: (member) => time(member.created_at, frame) },
    ],
  })
}

function person(frame: Frame, member: GroupMemberDocument): Markup {
  const to = linkFor(frame, 'users', member.user_id)
  const shown = name(labelOf(member), '(no address)')
  return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
}

function endOf({ expires_at: end }: GroupMemberDocument, frame: Frame): Markup {
  return end === null ? html`<span class="muted none">–</span>` : time(end, frame)
}

/** Whether what a source says counts now. */
export function stateOf(
  { counts, expires_at: end }: Pick<GroupMemberDocument, 'counts' | 'expires_at'>,
  { place }: Pick<Frame, 'place'>,
): Markup {
  if (counts) return chip('In the group', 'good')
  return end !== null && Date.parse(end) <= place.now ? chip('Ended', 'quiet') : chip('Does not count', 'caution')
}

const SAYS: Readonly<Record<string, string>> = { operator: 'an administrator', application: 'your application' }

/** Who says that a user is in a group. */
export function sourceOf(source: string): Fragment {
  return SAYS[source] ?? html`provider ${code(source.replace('provider:', ''))}`
}

/** What names a group, by its kind. */
const NAMES_GROUP: Readonly<Record<Naming['kind'], NamesGroup>> = {
  'access-rule': { noun: 'Access rule', icon: rulesIcon, list: 'access-rules' },
  api: { noun: 'API', icon: apisIcon, list: 'apis' },
  client: { noun: 'Client', icon: clientsIcon, list: 'clients' },
  provider: { noun: 'Provider', icon: providersIcon, list: 'providers' },
  server: { noun: 'A record of the server', icon: lockIcon, list: undefined },
}

interface NamesGroup {
  readonly noun: string
  readonly icon: Markup
  /** Where its page is. undefined: it has none. */
  readonly list: Parameters<typeof linkTo>[0] | undefined
}

/** A role for one organization opens none of it. */
function naming(frame: Frame, all: readonly Naming[]): Markup {
  if (all.length === 0)
    return html`<div class="empty">
      <p>Nothing names the group. Clients and APIs that read all groups of a user read it too.</p>
    </div>`
  return html`<ul class="feed" role="list">
    ${all.map(({ kind, id: object, organization_id: owner }) => {
      const { noun, icon, list } = NAMES_GROUP[kind]
      const shown = object === null ? undefined : html`<bdi>${object}</bdi>`
      const to = list === undefined || object === null ? undefined : placeOf(list, object, owner)
      return html`<li data-row>
        ${icon}
        <p>${noun} ${to !== undefined && frame.mayOpen(to) ? html`<a href="${to}">${shown}</a>` : shown}</p>
      </li>`
    })}
  </ul>`
}

/** A rule may be one of an organization. */
function placeOf(list: Parameters<typeof linkTo>[0], object: string, owner: string | null): string {
  return list === 'access-rules' ? rulePath(object, owner) : linkTo(list, object)
}

/** The id of a group or what it is called, which leads to its page. */
export function groupLink(frame: Pick<Frame, 'mayOpen' | 'organization'>, object: string, text?: string): Markup {
  const to = linkFor(frame, 'groups', object)
  const shown = text === undefined ? code(object) : html`<span title="${object}">${name(text, object)}</span>`
  return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
}
