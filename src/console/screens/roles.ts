import type { ListedRoleDocument } from '../../admin/user/role.ts'
import { forShell } from '../../base/shell.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { asking, formOf } from '../engine/buttons.ts'
import { listHeading, nothing, table } from '../list.ts'
import { nameOf, chip, command, named, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { ChangeForm, EditForm, Frame, Texts } from '../engine/form.ts'

interface Answers {
  readonly list: {
    readonly roles: readonly ListedRoleDocument[]
    readonly names: Texts
    readonly next: string | null
  }
}

/** What a person may do here. On the page of a user and in the list of roles. */
export const SET_ROLE: Omit<EditForm, 'filled'> = {
  kind: 'edit',
  task: 'role.set',
  caution: (_, { isLoopbackOnly }) =>
    isLoopbackOnly
      ? 'Your own role counts only while the issuer is a loopback address, so the role that you set must be “Loopback only” too. The command line can set another.'
      : undefined,
  fields: ['access', 'organization_id', 'loopback_only', 'confirmed'],
  preset: (_, { isLoopbackOnly }) => ({ loopback_only: isLoopbackOnly }),
}

export const REMOVE_ROLE: ChangeForm = {
  kind: 'change',
  task: 'role.remove',
}

function roleIn({ roles }: Answers['list'], subject: string | undefined): ListedRoleDocument | undefined {
  return roles.find(({ user_id: id }) => id === subject)
}

/** Who may enter the console. */
export const ROLES = screen<Answers>({
  path: '/console/roles',
  section: 'roles',
  reads: { list: { task: 'role.list', input: () => ({}) } },
  filters: [],
  forms: [
    {
      ...SET_ROLE,
      rows: { member: 'user_id' },
      filled: ({ list }, subject) => roleIn(list as Answers['list'], subject),
    },
    { ...REMOVE_ROLE, rows: { member: 'user_id' } },
  ],
  names: ({ list }) => list.names,
  reach: ({ list }, subject) => roleIn(list, subject)?.reach,
  view: ({ list }, frame) => ({
    title: 'Roles',
    main: html`${listHeading(frame, 'Roles', { shown: list.roles.length, next: list.next })}
    ${
      frame.mayWrite
        ? html`<p class="sub">
            <span>To give a person a role, open the person among the <a href="/console/users">users</a>.</span>
          </p>`
        : undefined
    }
    ${lastOne(list, frame)}
    ${table(frame, {
      caption: 'People who may use the console, newest users first',
      rows: list.roles,
      next: list.next,
      empty: nothing(
        frame,
        'People with a role for the console appear here.',
        'grantor role set <email> --access read',
      ),
      columns: [
        { heading: 'Person', cell: (role) => person(frame, role, list.names) },
        { heading: 'Access', role: 'meta', cell: accessOf },
        { heading: 'For', role: 'meta', cell: (role) => extentOf(role, list.names) },
        { heading: 'Two factors', isWide: true, cell: ({ has_second_factor: has }) => factorsOf(has) },
        { heading: 'Set', isWide: true, cell: (role) => time(role.set_at, frame) },
        { heading: 'Signed in', role: 'meta', cell: (role) => time(role.signed_in_at, frame) },
        ...(frame.forms.length === 0
          ? []
          : [{ heading: 'Action', isAction: true as const, cell: (role: ListedRoleDocument) => change(frame, role) }]),
      ],
    })}`,
  }),
})

/** No other person could give the role back here. */
function lastOne({ roles, next }: Answers['list'], { self, mayWrite }: Frame): Fragment {
  const writers = roles.filter(({ access, organization_id: one }) => access === 'write' && one === null)
  if (!mayWrite || next !== null || writers.some(({ user_id: user }) => user !== self)) return undefined
  return html`<p class="notice bad">
    <span
      >You are the only person who may change the server here. If your role or your account ends, only the command line
      gives a role again:</span
    >
    ${command(`grantor role set ${forShell(self)} --access write`)}
  </p>`
}

function person(frame: Frame, { user_id: user }: ListedRoleDocument, names: Texts): Markup {
  return html`${named(frame, 'users', user, names)}${user === frame.self ? html` <span class="muted">you</span>` : undefined}`
}

function accessOf({ access, loopback_only: isLoopbackOnly }: ListedRoleDocument): Markup {
  return html`${access}${isLoopbackOnly ? html` <span class="muted">while the issuer is a loopback address</span>` : undefined}`
}

function extentOf({ organization_id: organization }: ListedRoleDocument, names: Texts): Markup {
  if (organization === null) return html`the server`
  return html`<bdi>${nameOf(names, organization) ?? organization}</bdi>`
}

function factorsOf(has: boolean | null): Fragment {
  if (has === null) return html`<span class="muted">by your application</span>`
  return has ? 'yes' : chip('No', 'caution')
}

/** A person does not change the own role (threats.md CON-20). */
function change(frame: Frame, { user_id: user }: ListedRoleDocument): Fragment {
  if (user === frame.self) return undefined
  return asking(frame, [...formOf(frame, SET_ROLE.task), ...formOf(frame, REMOVE_ROLE.task)], user)
}
