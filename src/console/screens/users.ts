import type { UserDocument } from '../../admin/user/tasks.ts'
import { html, type Markup } from '../../web/markup.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { fromList, linkTo } from '../links.ts'
import { askLinks } from '../engine/buttons.ts'
import { filterBar, listHeading, nothing, table } from '../list.ts'
import { chip, name, time } from '../parts.ts'
import { isOwn } from '../lock-out.ts'
import { screen } from '../screen.ts'
import { changes, type ChangeForm, type Frame } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly users: readonly UserDocument[]; readonly next: string | null }
}

/** What can be done with a user at once, in a list and on the page of the user. */
export const USER_FORMS: readonly ChangeForm[] = changes('user.disable', 'user.enable')

export const DELETE_USER: ChangeForm = {
  kind: 'change',
  task: 'user.delete',
  leadsTo: () => '/console/users',
}

export const USERS = screen<Answers>({
  path: '/console/users',
  section: 'users',
  reads: { list: { task: 'user.list', input: () => ({}) } },
  filters: ['text', 'subject'],
  forms: [
    ...USER_FORMS.map((form) => ({ ...form, rows: { member: 'user_id', isBulk: true } as const })),
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
  view: ({ list }, frame) => ({
    title: 'Users',
    main: html`${listHeading(frame, 'Users', { shown: list.users.length, next: list.next }, askLinks(frame, 'user.create'))}
    ${filterBar(frame)}
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
        { heading: 'State', role: 'badge', cell: userState },
        {
          heading: 'Password',
          isWide: true,
          cell: (user) => (user.has_password ? 'yes' : html`<span class="muted">no</span>`),
        },
        { heading: 'Last sign-in', role: 'meta', cell: (user) => time(user.last_signed_in_at, frame) },
        { heading: 'Created', isWide: true, cell: (user) => time(user.created_at, frame) },
      ],
    })}`,
  }),
})

function userLink(user: UserDocument, frame: Frame): Markup {
  return html`<a href="${fromList(frame, linkTo('users', user.user_id))}">${name(user.name, 'No name')}</a>`
}

function userState({ disabled_at: disabled, first_signed_in_at: first }: UserDocument): Markup {
  if (disabled !== null) return chip('Disabled', 'bad')
  return first === null ? chip('Never signed in', 'quiet') : chip('Active', 'good')
}
