import { forShell } from '../../../base/shell.ts'
import type { MemberDocument } from '../../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { nameUser } from '../../../protocol/sign-in/account.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { linkFor, linkTo } from '../../links.ts'
import { askLinks } from '../../engine/buttons.ts'
import { filterBar, listHeading, nothing, table, type Column } from '../../list.ts'
import { chip, name, time } from '../../parts.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from './organization-tabs.ts'
import { screen } from '../../screen.ts'
import { stateOf } from '../user-answer.ts'
import { changes, type ChangeForm, type CreateForm, type Frame, type Members } from '../../engine/form.ts'

interface Answers extends HeadAnswers {
  readonly list: { readonly members: readonly MemberDocument[]; readonly next: string | null }
}

/** What is done with chosen members. */
const ROW_FORMS: readonly ChangeForm[] = changes(
  'member.send-link',
  'member.unlock',
  'member.end-sessions',
  'member.reset-second-factor',
  'member.disable',
  'member.enable',
  'member.remove',
)

/** An account if there is none, the membership, and a mail: one form. */
export const INVITE_MEMBER: CreateForm = { kind: 'create', task: 'member.invite', fields: ['email', 'name'] }
export const ADD_MEMBER: CreateForm = { kind: 'create', task: 'member.add', fields: ['email', 'user_id'] }

/** The members of an organization. */
export const MEMBERS = screen<Answers>({
  path: '/console/organizations/{organization_id}/members',
  section: 'members',
  reads: {
    list: { task: 'member.list', input: () => ({}) },
    ...HEAD_READS,
  },
  filters: ['text', 'outside_domains'],
  forms: [
    ...ROW_FORMS.map((form) => ({
      ...form,
      rows: { member: 'user_id', isBulk: true, read: rowsOf } as const,
    })),
    INVITE_MEMBER,
    ADD_MEMBER,
  ],
  about: ({ organization }) => organization.name,
  reach: ({ list }, subject) => list.members.find(({ user_id: user }) => user === subject)?.reach,
  names: ({ list }) => Object.fromEntries(list.members.map((one) => [one.user_id, labelOf(one)])),
  view: (answers, frame) => ({
    title: `Members of ${answers.organization.name}`,
    main: html`${heading(answers, frame)} ${filterBar(frame)}
    ${table(frame, {
      caption: 'Members, newest users first',
      rows: answers.list.members,
      next: answers.list.next,
      idOf: (member) => member.user_id,
      labelOf,
      empty: nothing(
        frame,
        'Members appear here when you add them, or when they sign in at a provider of the organization.',
        frame.organization === undefined
          ? `grantor org add-member ${forShell(answers.organization.organization_id)} <address>`
          : undefined,
      ),
      columns: memberColumns(frame),
    })}`,
  }),
})

function heading(answers: Answers, frame: Frame): Markup {
  const { list, organization } = answers
  const buttons = html`<div class="actions">${askLinks(frame, 'member.invite', 'member.add')}</div>`
  const title = html`Members of ${organizationName(frame, organization)}`
  return (
    organizationHead(frame, answers, 'members', buttons) ??
    listHeading(frame, title, { shown: list.members.length, next: list.next }, buttons)
  )
}

function rowsOf(answers: Members): Readonly<Record<string, Members>> {
  const { list } = answers as unknown as Answers
  return Object.fromEntries(list.members.map((one) => [one.user_id, one]))
}

function labelOf(member: MemberDocument): string {
  return nameUser({ ...member, id: member.user_id })
}

/** The name of an organization in a heading, which leads to its page. */
export function organizationName(
  frame: Pick<Frame, 'mayOpen' | 'organization'>,
  { organization_id: organization, name: text }: OrganizationDocument,
): Markup {
  const shown = name(text, '(no name)')
  return linkFor(frame, 'organizations', organization) === undefined
    ? shown
    : html`<a href="${linkTo('organizations', organization)}">${shown}</a>`
}

/** That of the membership, or of an account that the person may help. */
export function memberState(member: MemberDocument, frame: Frame): Markup {
  const { disabled_at: at, state, state_until: until } = member
  if (at !== null) return chip('Disabled', 'bad')
  return state === null ? chip('Active', 'good') : stateOf({ state, state_until: until }, frame)
}

export function memberColumns(frame: Frame): [Column<MemberDocument>, ...Column<MemberDocument>[]] {
  return [
    {
      heading: 'User',
      cell(member) {
        const to = linkFor(frame, 'users', member.user_id)
        const shown = name(labelOf(member), '(no address)')
        return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
      },
    },
    { heading: 'Name', cell: (member) => name(member.name, '–') },
    {
      heading: 'State',
      role: 'badge',
      cell: (member) => memberState(member, frame),
    },
    { heading: 'Member since', role: 'meta', cell: (member) => time(member.created_at, frame) },
    {
      heading: 'Tokens revoked',
      isWide: true,
      cell: ({ not_before: at, created_at: since }) => time(at === since ? null : at, frame, '–'),
    },
  ]
}
