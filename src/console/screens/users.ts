import type { UserDocument } from '../../admin/user/tasks.ts'
import { html, type Markup } from '../../web/markup.ts'
import { callUser, nameUser } from '../../protocol/sign-in/account.ts'
import { linkTo } from '../links.ts'
import { filterBar, nothing, table } from '../list.ts'
import { chip, name, time } from '../parts.ts'
import { isOwn } from '../lock-out.ts'
import { screen } from '../screen.ts'
import type { ChangeForm, Members } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly users: readonly UserDocument[]; readonly next: string | null }
}

const isDisabled = (user: Members): boolean => user['disabled_at'] !== null

/** What can be done with a user at once, in a list and on the page of the user. */
export const USER_FORMS: readonly ChangeForm[] = [
  {
    kind: 'change',
    task: 'user.disable',
    says: {
      label: 'Disable',
      done: 'Disabled',
      warning:
        'The user is signed out everywhere, and each app loses its access. Enabling the account again brings none of that back.',
      undo: 'user.enable',
      undoNote: 'Sessions and tokens stay ended if the account is enabled again.',
      already: { text: 'Already disabled', holds: isDisabled },
    },
  },
  {
    kind: 'change',
    task: 'user.enable',
    says: {
      label: 'Enable',
      done: 'Enabled',
      already: { text: 'Already enabled', holds: (user) => !isDisabled(user) },
    },
  },
]

export const DELETE_USER: ChangeForm = {
  kind: 'change',
  task: 'user.delete',
  says: {
    label: 'Delete',
    done: 'Deleted',
    warning:
      'The account ends with all sessions, memberships and grants, and cannot be restored. To lock it, disable it: that can be undone.',
    isRecent: true,
    isFinal: true,
  },
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
      says: { label: 'Create a user', done: 'Created', next: 'user.create-link' },
      fields: ['email', 'name', 'email_verified'],
      leadsTo: ({ user_id: user }) => linkTo('users', String(user)),
    },
    { ...DELETE_USER, rows: { member: 'user_id' } },
  ],
  names: ({ list }) =>
    Object.fromEntries(list.users.map((user) => [user.user_id, nameUser({ ...user, id: user.user_id })])),
  view: ({ list }, frame) => ({
    title: 'Users',
    main: html`<div class="heading">
        <h1>Users</h1>
        ${frame.mayWrite ? html`<a class="button" href="?ask=user.create">Create a user</a>` : undefined}
      </div>
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
          { heading: 'Email', cell: userLink },
          { heading: 'Name', cell: (user) => name(user.name, '–') },
          { heading: 'State', cell: userState },
          {
            heading: 'Password',
            isWide: true,
            cell: (user) => (user.has_password ? 'yes' : html`<span class="muted">no</span>`),
          },
          { heading: 'First signed in', isWide: true, cell: (user) => time(user.first_signed_in_at, frame) },
          { heading: 'Created', cell: (user) => time(user.created_at, frame) },
        ],
      })}`,
  }),
})

function userLink(user: UserDocument): Markup {
  return html`<a href="${linkTo('users', user.user_id)}">${name(callUser(user) ?? null, '(no address)')}</a>`
}

export function userState({ disabled_at: disabled, first_signed_in_at: first }: UserDocument): Markup {
  if (disabled !== null) return chip('Disabled', 'bad')
  return first === null ? chip('Never signed in', 'quiet') : chip('Active', 'good')
}
