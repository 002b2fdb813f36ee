import type { GrantDocument, ShownGrantDocument } from '../../admin/grant.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { linkFor } from '../links.ts'
import { actions, formOf } from '../engine/buttons.ts'
import { filterBar, listHeading, nothing, table, type Column } from '../list.ts'
import { chip, dotted, facts, id, name, named, nameOf, scopes, time } from '../parts.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from './organizations/organization-tabs.ts'
import { screen } from '../screen.ts'
import type { ChangeForm, Frame, Texts, View } from '../engine/form.ts'

interface Listed {
  readonly list: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
}

/** Takes access back. */
export const REVOKE_GRANT: ChangeForm = {
  kind: 'change',
  task: 'grant.revoke',
}

export const GRANTS = screen<Listed>({
  path: '/console/grants',
  section: 'grants',
  reads: { list: { task: 'grant.list', input: () => ({}) } },
  filters: ['client_id', 'user_id', 'organization_id'],
  forms: [{ ...REVOKE_GRANT, rows: { member: 'grant_id', isBulk: true } }],
  reach: reachOfRow,
  names: ({ list }) => namesOf(list.grants, list.names),
  view: ({ list }, frame) => ({ title: 'Grants', main: grantList(frame, list, 'Grants') }),
})

/** The grants for one organization, which a role for it shows. */
export const ORGANIZATION_GRANTS = screen<Listed & HeadAnswers>({
  path: '/console/organizations/{organization_id}/grants',
  section: 'grants',
  reads: {
    list: { task: 'organization.list-grants', input: () => ({}) },
    ...HEAD_READS,
  },
  filters: ['client_id', 'user_id'],
  forms: [{ ...REVOKE_GRANT, task: 'organization.revoke-grant', rows: { member: 'grant_id', isBulk: true } }],
  reach: reachOfRow,
  names: ({ list }) => namesOf(list.grants, list.names),
  view: (answers, frame) => ({
    title: `Grants for ${answers.organization.name}`,
    main: grantList(
      frame,
      answers.list,
      html`Grants for <bdi>${answers.organization.name}</bdi>`,
      organizationHead(frame, answers, 'grants', undefined),
    ),
  }),
})

function reachOfRow({ list }: Listed, subject: string | undefined): GrantDocument['reach'] | undefined {
  return list.grants.find(({ grant_id: grant }) => grant === subject)?.reach
}

function grantList(frame: Frame, { grants, names, next }: Listed['list'], heading: Fragment, head?: Markup): Markup {
  return html`${head ?? listHeading(frame, heading, { shown: grants.length, next })} ${filterBar(frame)}
  ${table(frame, {
    caption: 'Grants, newest first',
    rows: grants,
    next,
    idOf: ({ grant_id: grant }) => grant,
    labelOf: ({ user_id: user, client_id: client }) =>
      `${nameOf(names, user) ?? user}, ${nameOf(names, client) ?? client}`,
    empty: nothing(
      frame,
      'Grants appear here when users allow clients something.',
      'grantor perform authorization-code',
    ),
    columns: [
      { heading: 'User', cell: ({ user_id: user }) => named(frame, 'users', user, names) },
      { heading: 'Client', role: 'meta', cell: ({ client_id: client }) => named(frame, 'clients', client, names) },
      ...grantColumns(frame, names, 'both').slice(2),
    ],
  })}`
}

interface Shown {
  readonly grant: ShownGrantDocument
}

/** Revokes the grant that the path names. */
const REVOKE_THIS: ChangeForm = { ...REVOKE_GRANT, fits: (grant) => grant['inactive_reason'] === null }

/** One grant: what a user allowed a client. */
export const GRANT = screen<Shown>({
  path: '/console/grants/{grant_id}',
  section: 'grants',
  reads: { grant: { task: 'grant.show', input: () => ({}) } },
  filters: [],
  forms: [REVOKE_THIS],
  reach: ({ grant }) => grant.reach,
  names: ({ grant }) => ({ '': labelOf(grant, grant.names) }),
  view: ({ grant }, frame) => grantView(frame, grant),
})

export const ORGANIZATION_GRANT = screen<Shown>({
  path: '/console/organizations/{organization_id}/grants/{grant_id}',
  section: 'grants',
  reads: { grant: { task: 'organization.show-grant', input: () => ({}) } },
  filters: [],
  forms: [{ ...REVOKE_THIS, task: 'organization.revoke-grant' }],
  reach: ({ grant }) => grant.reach,
  names: ({ grant }) => ({ '': labelOf(grant, grant.names) }),
  view: ({ grant }, frame) => grantView(frame, grant),
})

function grantView(frame: Frame, grant: ShownGrantDocument): View {
  const forms = frame.forms.filter(({ fits }) => fits?.(grant) !== false)
  return {
    title: 'Grant',
    main: html`<div class="heading">
        <h1>Grant</h1>
        ${state(grant)} ${actions(frame, forms)}
      </div>
      ${facts([
        ['Id', id(grant.grant_id)],
        ['User', withName(grant.user_id, grant.names, linkFor(frame, 'users', grant.user_id))],
        ['Client', withName(grant.client_id, grant.names, linkFor(frame, 'clients', grant.client_id))],
        [
          'Organization',
          grant.organization_id === null
            ? undefined
            : withName(grant.organization_id, grant.names, linkFor(frame, 'organizations', grant.organization_id)),
        ],
        ['Scopes', scopes(grant.scope)],
        [
          'APIs',
          grant.resources.length === 0 ? html`<span class="muted">this server</span>` : grant.resources.join(', '),
        ],
        ['Grant type', grant.grant_type ?? undefined],
        ['Provider', grant.provider_id === null ? undefined : id(grant.provider_id)],
        ['Allowed', time(grant.created_at, frame)],
        ['Refreshed', grant.refreshed_at === null ? undefined : time(grant.refreshed_at, frame)],
        ['Ends', time(grant.expires_at, frame)],
        ['Revoked', grant.revoked_at === null ? undefined : time(grant.revoked_at, frame)],
      ])}`,
  }
}

/** An id after what it is called, if that is known. */
function withName(object: string, names: Texts, to: string | undefined): Markup {
  const own = nameOf(names, object)
  if (own === undefined) return id(object, to)
  const called = name(own, '(no name)')
  return html`${to === undefined ? called : html`<a href="${to}">${called}</a>`} ${id(object)}`
}

/** The columns of grants, on the page of one of the two whom they are between: the other one comes first. */
export function grantColumns(
  frame: Frame,
  names: Texts,
  page: 'client' | 'user' | 'both',
): [Column<GrantDocument>, ...Column<GrantDocument>[]] {
  const other: Column<GrantDocument> =
    page === 'client'
      ? { heading: 'User', cell: ({ user_id: user }) => named(frame, 'users', user, names) }
      : { heading: 'Client', cell: ({ client_id: client }) => named(frame, 'clients', client, names) }
  return [
    other,
    {
      heading: 'For',
      isWide: true,
      cell: ({ organization_id: organization }) =>
        organization === null
          ? html`<span class="muted none">–</span>`
          : named(frame, 'organizations', organization, names),
    },
    {
      heading: 'By',
      isWide: true,
      cell: ({ grant_type: by }) => by?.split(':').at(-1) ?? '–',
    },
    { heading: 'Scopes', ...(page === 'both' ? {} : { isRest: true }), cell: ({ scope }) => scopes(scope) },
    { heading: 'State', role: 'badge', cell: (grant) => state(grant) },
    {
      heading: 'Allowed',
      role: 'meta',
      cell: (grant) => html`<a href="${linkFor(frame, 'grants', grant.grant_id)}">${time(grant.created_at, frame)}</a>`,
    },
    { heading: 'Used', isWide: true, cell: ({ refreshed_at: at }) => time(at, frame, '–') },
    ...(page === 'both' || formOf(frame, 'grant.revoke').length === 0
      ? []
      : [
          {
            heading: 'Action',
            isAction: true as const,
            cell: (grant: GrantDocument) =>
              grant.inactive_reason === null
                ? actions(frame, formOf(frame, 'grant.revoke'), grant.grant_id)
                : undefined,
          },
        ]),
  ]
}

function state({ revoked_at: revoked, inactive_reason: reason }: GrantDocument) {
  if (revoked !== null) return chip('Revoked', 'bad')
  if (reason === 'expired') return chip('Expired', 'quiet')
  return reason === null ? chip('Active', 'good') : chip('Ended', 'quiet')
}

function labelOf({ user_id: user, client_id: client }: GrantDocument, names: Texts): string {
  return `${nameOf(names, client) ?? client}’s access to ${nameOf(names, user) ?? user}`
}

/** What grants are called, on the page that asks before they are revoked. */
export function namesOf(grants: readonly GrantDocument[], names: Texts): Texts {
  return { ...names, ...Object.fromEntries(grants.map((grant) => [grant.grant_id, labelOf(grant, names)])) }
}

/** The active grants of one client, or of one user, for one organization. Each sign-in to an app can be a grant. */
interface GroupedGrants {
  /** The id of the client or the user. */
  readonly of: string
  readonly organization: string | null
  readonly grants: readonly GrantDocument[]
}

/** Grants that one button revokes. */
const GRANTS_REVOKED = 50

export function groupedGrants(
  grants: readonly GrantDocument[],
  idOf: (grant: GrantDocument) => string,
): readonly GroupedGrants[] {
  const active = grants.filter(({ inactive_reason: reason }) => reason === null)
  const groups = Map.groupBy(active, (grant) => JSON.stringify([idOf(grant), grant.organization_id]))
  return [...groups.values()].flatMap((all) => {
    const [first] = all
    return first === undefined ? [] : [{ of: idOf(first), organization: first.organization_id, grants: all }]
  })
}

/** A group as one row of a feed, whose button ends up to 50 of its grants. `head`: the icon, and whose grants they are. */
export function grantItem(frame: Frame, { organization, grants }: GroupedGrants, names: Texts, head: Markup): Markup {
  const used = grants.map(({ refreshed_at: refreshed, created_at: created }) => refreshed ?? created).toSorted()
  const scope = [...new Set(grants.flatMap((one) => one.scope.split(' ')))].join(' ')
  const ids = grants.slice(0, GRANTS_REVOKED).map(({ grant_id: grant }) => grant)
  const about = dotted([
    scopes(scope),
    organization === null ? undefined : html`for ${named(frame, 'organizations', organization, names)}`,
    grants.length === 1 ? undefined : `${grants.length} sign-ins`,
  ])
  return html`<li data-row>
    ${head}
    <span class="when">used ${time(used.at(-1) ?? null, frame)}</span>
    <div class="meta">
      <span>${about}</span>
      ${actions(frame, formOf(frame, 'grant.revoke'), ...ids)}
    </div>
  </li>`
}
