import type { ListedUserDocument, ListedUsersDocument } from '../../admin/user/listed.ts'
import { html, type Markup } from '../../web/markup.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { fromList, linkTo } from '../links.ts'
import { askLinks } from '../engine/buttons.ts'
import { filterBar, listHeading, nothing, table, type Views } from '../list.ts'
import { name, nameOf, time } from '../parts.ts'
import { isOwn } from '../lock-out.ts'
import { screen } from '../screen.ts'
import { changes, type ChangeForm, type Frame, type Texts } from '../engine/form.ts'
import { stateOf } from './user-answer.ts'

interface Answers {
  readonly list: ListedUsersDocument
}

/** What can be done with the users that are chosen in the list. */
const BULK_FORMS = changes('user.send-link', 'user.unlock', 'user.end-sessions', 'user.disable', 'user.enable')

/** What can be done with a user at once, in a list and on the page of the user. */
export const USER_FORMS: readonly ChangeForm[] = changes('user.disable', 'user.enable')

export const DELETE_USER: ChangeForm = {
  kind: 'change',
  task: 'user.delete',
  leadsTo: () => '/console/users',
}

const VIEWS: Views = {
  filter: 'state',
  all: 'All',
  views: { invited: 'Invited', 'never-signed-in': 'Never signed in', locked: 'Locked', disabled: 'Disabled' },
}

export const USERS = screen<Answers>({
  path: '/console/users',
  section: 'users',
  reads: { list: { task: 'user.list', input: () => ({}) } },
  filters: ['text', 'state', 'organization_id', 'subject'],
  forms: [
    ...BULK_FORMS.map((form) => ({ ...form, rows: { member: 'user_id', isBulk: true } as const })),
    {
      kind: 'create',
      task: 'user.create',
      fields: ['email', 'name', 'email_verified'],
      leadsTo: ({ user_id: user }) => linkTo('users', String(user)),
    },
    { ...DELETE_USER, rows: { member: 'user_id' } },
  ],
  names: ({ list }) =>
    Object.fromEntries(list.users.map((user) => [user.user_id, nameUser({ ...user, id: user.user_id })])),
  reach: ({ list }, subject) => list.users.find(({ user_id: user }) => user === subject)?.reach,
  view: ({ list }, frame) => ({
    title: 'Users',
    main: html`${listHeading(frame, 'Users', { shown: list.users.length, next: list.next, total: totalOf(list, frame) }, askLinks(frame, 'user.create'))}
    ${filterBar(frame, VIEWS, list.names)}
    ${table(frame, {
      caption: 'Users, newest first',
      rows: list.users,
      next: list.next,
      idOf: (user) => user.user_id,
      isLeftOut: (user) => isOwn(user.user_id, frame.self),
      labelOf: (user) => nameUser({ ...user, id: user.user_id }),
      empty: nothing(
        frame,
        'Users appear here when you create them, or when they sign in at a provider.',
        'grantor user create --email <address> --no-password',
      ),
      columns: [
        { heading: 'Name', cell: (user) => userLink(user, frame) },
        { heading: 'Address', cell: (user) => name(user.email, '–') },
        { heading: 'Organization', isWide: true, cell: (user) => organizationsOf(user, list.names) },
        { heading: 'State', role: 'badge', cell: (user) => stateOf(user, frame) },
        { heading: 'Last sign-in', role: 'meta', cell: (user) => time(user.last_signed_in_at, frame) },
        { heading: 'Created', isWide: true, cell: (user) => time(user.created_at, frame) },
      ],
    })}
    ${hintOf(viewOf(frame))}`,
  }),
})

const LOCKED_HINT =
  'Found by the failed sign-ins of the last 15 minutes. Each process names 25 accounts a minute in the audit: if more fail, look at the page of the user.'

const NEVER_HINT = 'Some of them are also invited, locked or disabled: the state is the worst one.'

/** What a view has besides what its name says. */
function hintOf(view: string | undefined): Markup | undefined {
  const hint = view === 'locked' ? LOCKED_HINT : view === 'never-signed-in' ? NEVER_HINT : undefined
  return hint === undefined ? undefined : html`<p class="hint">${hint}</p>`
}

function viewOf({ filters }: Frame): string | undefined {
  return filters.find(({ name: field }) => field === VIEWS.filter)?.value
}

/** What is counted are all users. */
function totalOf({ counted }: Answers['list'], { filters }: Frame) {
  if (counted === null || filters.some(({ value }) => value !== undefined)) return undefined
  return { count: counted.users, at: counted.at }
}

function userLink(user: ListedUserDocument, frame: Frame): Markup {
  return html`<a href="${fromList(frame, linkTo('users', user.user_id))}">${name(user.name, 'No name')}</a>`
}

/** The first organization of a user, and how many others there are. */
export function organizationsOf({ organizations: [first, ...others] }: ListedUserDocument, names: Texts): Markup {
  if (first === undefined) return html`<span class="muted">–</span>`
  return html`${name(nameOf(names, first), '(no name)')}${others.length === 0 ? undefined : html` <span class="muted">+${others.length}</span>`}`
}
