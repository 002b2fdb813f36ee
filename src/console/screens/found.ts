import { apiName } from '../words.ts'
import { allTexts } from '../../base/localized-text.ts'
import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { ListedGroupDocument } from '../../admin/group/tasks.ts'
import type { GrantDocument } from '../../admin/grant.ts'
import type { InstallationDocument } from '../../admin/organization/installation.ts'
import type { MemberDocument } from '../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../admin/organization/organization.ts'
import { EXAMINED_FOR_TEXT, hasText, PAGE_LIMIT } from '../../admin/page.ts'
import type { ProviderDocument } from '../../admin/provider/settings.ts'
import type { ListedUsersDocument } from '../../admin/user/listed.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { formatNumber } from '../chart.ts'
import { linkFor, linkTo, namedAddress, rulePath, type NamedList } from '../links.ts'
import { highlighted } from '../highlight.ts'
import { apisIcon, clientsIcon, groupsIcon, organizationsIcon, providersIcon, rulesIcon, usersIcon } from '../icons.ts'
import { capitalOf, dotted, id, name, nameOf, scopes, section, time } from '../parts.ts'
import { screen } from '../screen.ts'
import { organizationPath } from '../sections.ts'
import type { Frame, Place, Texts, View } from '../engine/form.ts'
import { goesTo, trust } from './clients.ts'
import { ruleState, type ListedRules } from './access-rules/rules-of.ts'
import { protection } from './groups/group.ts'
import { memberState } from './organizations/members.ts'
import { organizationState } from './organizations/organizations.ts'
import { stateOf } from './user-answer.ts'
import { organizationsOf } from './users.ts'

interface ListedGroups {
  readonly groups: readonly ListedGroupDocument[]
  readonly next: string | null
}

interface Answers {
  readonly users: ListedUsersDocument
  readonly groups: ListedGroups
  readonly 'access-rules': ListedRules
  readonly organizations: { readonly organizations: readonly OrganizationDocument[]; readonly next: string | null }
  readonly clients: { readonly clients: readonly ClientDocument[]; readonly next: string | null } | undefined
  readonly apis: { readonly apis: readonly ApiDocument[]; readonly next: string | null } | undefined
  readonly providers: { readonly providers: readonly ProviderDocument[]; readonly next: string | null } | undefined
}

/** Of each kind. The list of the kind has all. */
const ROWS_SHOWN = 10

const textIn = ({ query }: Pick<Place, 'query'>): string | undefined => query['text']
const named = (place: Place) => ({ name: textIn(place), limit: ROWS_SHOWN })
const having = (place: Place) => ({ text: textIn(place), limit: ROWS_SHOWN })

/** What has the text that the person typed, of every kind. A search examines as many rows as a page of the list does. */
export const FOUND = screen<Answers>({
  path: '/console/found',
  section: 'overview',
  reads: {
    users: { task: 'user.list', input: having },
    groups: { task: 'group.list', input: named },
    'access-rules': { task: 'access-rule.list', input: having },
    organizations: { task: 'organization.list', input: named },
    clients: { task: 'client.list', input: having, isOptional: true },
    apis: { task: 'api.list', input: named, isOptional: true },
    providers: { task: 'provider.list', input: named, isOptional: true },
  },
  filters: [],
  keeps: ['text'],
  forms: [],
  names: () => ({}),
  view(answers, frame) {
    const text = textIn(frame.place) ?? ''
    const { clients, apis, providers } = answers
    const lists = { clients, APIs: apis, providers }
    const lacks = Object.entries(lists).flatMap(([kind, list]) => (list === undefined ? kind : []))
    return foundView(frame, groupsOf(answers, frame, text), lacks)
  },
})

interface AnswersWithin {
  readonly groups: ListedGroups
  readonly rules: ListedRules
  readonly members: { readonly members: readonly MemberDocument[]; readonly next: string | null }
  readonly installations: { readonly installations: readonly InstallationDocument[]; readonly next: string | null }
  readonly grants: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
}

/** What has the text, of what is for one organization: whatever the text is, the same is read (threats.md CON-08). */
export const FOUND_WITHIN = screen<AnswersWithin>({
  path: '/console/organizations/{organization_id}/found',
  section: 'members',
  reads: {
    members: { task: 'member.list', input: having },
    groups: { task: 'organization-group.list', input: named },
    rules: { task: 'organization-access-rule.list', input: having },
    installations: { task: 'installation.list', input: () => ({ limit: PAGE_LIMIT.most }) },
    grants: { task: 'organization.list-grants', input: () => ({ limit: GRANTS_SEARCHED }) },
  },
  filters: [],
  keeps: ['text'],
  forms: [],
  names: () => ({}),
  view(answers, frame) {
    const text = textIn(frame.place) ?? ''
    return foundView(frame, groupsWithin(answers, frame, text), [])
  },
})

/** Grants whose clients are looked at. Each costs several reads. */
const GRANTS_SEARCHED = 200

/** What was found of one kind, and how much of it was searched. */
interface Group {
  /** In the plural: `users`. */
  readonly kind: string
  readonly icon: Markup
  readonly rows: readonly Row[]
  /** null: all were searched. */
  readonly next: string | null
  /** Whether the search ended because there were enough rows. */
  readonly isFull: boolean
  /** What was searched, if not all was: `the newest 2,000 users`. */
  readonly part: string
  /** Whether less than names and addresses was compared, as `part` says. */
  readonly isShort?: boolean
  /** Where the search goes on. */
  readonly list: string | undefined
}

interface Row {
  readonly to: string
  readonly shown: Markup
  readonly state?: Markup | undefined
  readonly when?: Fragment
  /** In the line below. */
  readonly besides: readonly Fragment[]
}

function groupsOf(answers: Answers, frame: Frame, text: string): readonly Group[] {
  const { users, groups, organizations, clients, apis, providers } = answers
  const called = (own: string | null | undefined, otherwise = '(no name)'): Markup => highlighted(own, text, otherwise)
  /** `rows`: undefined if the person may not list the kind. */
  const group = (list: NamedList, kind: string, icon: Markup, rows: readonly Row[] | undefined): readonly Group[] => {
    if (rows === undefined) return []
    const part = `the newest ${formatNumber(EXAMINED_FOR_TEXT)} ${kind}`
    const [next, isFull] = [answers[list]?.next ?? null, rows.length === ROWS_SHOWN]
    return [{ kind, icon, rows, next, isFull, part, list: namedAddress(list, text) }]
  }
  return [
    ...group(
      'users',
      'users',
      usersIcon,
      users.users.map((user) => ({
        to: linkTo('users', user.user_id),
        shown: called(user.name ?? user.email),
        state: stateOf(user, frame),
        when: time(user.last_signed_in_at, frame),
        besides: [
          user.name === null ? undefined : called(user.email, 'no address'),
          user.organizations.length === 0 ? undefined : organizationsOf(user, users.names),
        ],
      })),
    ).map((one) => ({ ...one, ...partOfUsers(users) })),
    // The last ids first.
    ...group('groups', 'groups', groupsIcon, groupRows(groups, frame, text)).map((one) => ({
      ...one,
      part: `${formatNumber(EXAMINED_FOR_TEXT)} groups`,
    })),
    ...group('access-rules', 'access rules', rulesIcon, ruleRows(answers['access-rules'], text)),
    ...group(
      'organizations',
      'organizations',
      organizationsIcon,
      organizations.organizations.map((one) => ({
        to: linkTo('organizations', one.organization_id),
        shown: called(one.name),
        state: organizationState(one),
        besides: [id(one.organization_id)],
      })),
    ),
    ...group(
      'clients',
      'clients',
      clientsIcon,
      clients?.clients.map((client) => ({
        to: linkTo('clients', client.client_id),
        shown: called(listedNameOf(client)),
        state: trust(client),
        when: time(client.last_used_at ?? client.used_at, frame),
        besides: [html`goes to ${goesTo(client)}`],
      })),
    ),
    ...group(
      'apis',
      'APIs',
      apisIcon,
      apis?.apis.map((api) => ({
        to: linkTo('apis', api.resource),
        shown: called(apiName(api)),
        besides: [code(api.resource), scopesWith(api, text)],
      })),
    ),
    ...group(
      'providers',
      'providers',
      providersIcon,
      providers?.providers.map(({ provider_id: object, name: own, issuer }) => ({
        to: linkTo('providers', object),
        shown: called(own),
        besides: [code(issuer)],
      })),
    ),
  ]
}

function groupRows({ groups }: ListedGroups, frame: Frame, text: string): readonly Row[] {
  return groups.map((one) => ({
    to: linkFor(frame, 'groups', one.group_id) ?? linkTo('groups', one.group_id),
    shown: highlighted(one.name, text, '(no name)'),
    state: protection(one),
    besides: [highlighted(one.group_id, text, '')],
  }))
}

function ruleRows({ access_rules: rules }: ListedRules, text: string): readonly Row[] {
  return rules.map((rule) => ({
    to: rulePath(rule.rule_id, rule.organization_id),
    shown: highlighted(rule.rule_id, text, ''),
    state: ruleState(rule),
    besides: [
      highlighted(rule.reads, text, ''),
      rule.sentence === null ? undefined : highlighted(rule.sentence, text, ''),
    ],
  }))
}

/** What of the users was searched, if it is less than all names and addresses. */
function partOfUsers({ searched: compared, counted }: Answers['users']): Pick<Group, 'isShort' | 'part'> {
  if (compared === 'beginnings_of_addresses')
    return { isShort: true, part: 'users by the beginnings of their addresses, because no word has three letters' }
  const part =
    counted === null || counted.indexed >= counted.users
      ? 'the newest users, because the index of names and addresses is still being written'
      : `of ${formatNumber(counted.users)} users ${formatNumber(counted.indexed)}, because the index of names and addresses is still being written`
  return { isShort: false, part }
}

/** The scopes of an API by which it was found. */
function scopesWith({ scopes: all }: ApiDocument, text: string): Fragment {
  const found = all.filter(({ name: scope, sentence }) => hasText(text, scope, ...allTexts(sentence)))
  return found.length === 0 ? undefined : scopes(found.map(({ name: scope }) => scope).join(' '))
}

/** Clients are those that are installed, or that members allowed something. */
function groupsWithin(
  { members, groups, rules, installations, grants }: AnswersWithin,
  frame: Frame,
  text: string,
): readonly Group[] {
  const above = organizationPath(frame.place.parameters['organization_id'] ?? '')
  const grantsOf = (filter: 'client_id' | 'user_id', object: string): string =>
    `${above}/grants?${new URLSearchParams({ [filter]: object }).toString()}`
  const clients = new Map([
    ...grants.grants.map(({ client_id: client }): [string, string | undefined] => [
      client,
      nameOf(grants.names, client),
    ]),
    ...installations.installations.map(({ client_id: client, client_name: called }): [string, string | undefined] => [
      client,
      called ?? undefined,
    ]),
  ])
  const found = [...clients].filter(([client, called]) => client === text || hasText(text, called))
  return [
    {
      kind: 'members',
      icon: usersIcon,
      rows: members.members.map((member) => ({
        to: grantsOf('user_id', member.user_id),
        shown: highlighted(nameUser({ ...member, id: member.user_id }), text, '(no name)'),
        state: memberState(member, frame),
        besides: [member.name === null ? undefined : highlighted(member.name, text, '–')],
      })),
      next: members.next,
      isFull: members.members.length === ROWS_SHOWN,
      part: `the newest ${formatNumber(EXAMINED_FOR_TEXT)} members`,
      list: `${above}/members?${new URLSearchParams({ text }).toString()}`,
    },
    {
      kind: 'groups',
      icon: groupsIcon,
      rows: groupRows(groups, frame, text),
      next: groups.next,
      isFull: groups.groups.length === ROWS_SHOWN,
      part: `${formatNumber(EXAMINED_FOR_TEXT)} groups`,
      list: `${above}/groups?${new URLSearchParams({ name: text }).toString()}`,
    },
    {
      kind: 'access rules',
      icon: rulesIcon,
      rows: ruleRows(rules, text),
      next: rules.next,
      isFull: rules.access_rules.length === ROWS_SHOWN,
      part: 'all access rules',
      list: `${above}/access-rules?${new URLSearchParams({ text }).toString()}`,
    },
    {
      kind: 'clients',
      icon: clientsIcon,
      rows: found.map(([client, called]) => ({
        to: grantsOf('client_id', client),
        shown: highlighted(called, text, '(no name)'),
        besides: [id(client)],
      })),
      next: installations.next ?? grants.next,
      isFull: false,
      part: `the newest ${formatNumber(PAGE_LIMIT.most)} installed clients, and those of the newest ${GRANTS_SEARCHED} grants`,
      list: undefined,
    },
  ]
}

function foundView(frame: Frame, groups: readonly Group[], lacks: readonly string[]): View {
  const text = textIn(frame.place) ?? ''
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  const more = groups.some(({ next }) => next !== null) ? '+' : ''
  return {
    title: 'Search',
    main: html`<div class="heading">
        <h1>Search: ${name(text, '(nothing)')}</h1>
        ${count === 0 ? undefined : html`<span class="count">${count}${more} found</span>`}
      </div>
      ${count === 0 ? html`<div class="empty"><p>${none(groups, text)}</p></div>` : groups.map(groupSection)}
      ${searched(groups, lacks)}`,
  }
}

function groupSection({ kind, icon, rows, next, list }: Group): Markup | undefined {
  if (rows.length === 0) return undefined
  const label = next !== null ? 'All in the list' : rows.length === 1 ? 'In the list' : `All ${rows.length} in the list`
  return section(
    capitalOf(kind),
    html`<ul class="feed" role="list">
      ${rows.map(
        ({ to, shown, state, when, besides }) =>
          html`<li data-row>
            ${icon}
            <p><a href="${to}">${shown}</a> ${state}</p>
            ${when === undefined ? undefined : html`<span class="when">${when}</span>`}
            <div class="meta"><span>${dotted(besides)}</span></div>
          </li>`,
      )}
    </ul>`,
    list === undefined ? undefined : html`<a href="${list}">${label}</a>`,
  )
}

/** Whether a search ended before it had searched all, and without enough rows, or did not compare all. */
function isPart({ next, isFull, isShort }: Group): boolean {
  return isShort === true || (next !== null && !isFull)
}

/** That nothing was found is said only of what was searched. */
function none(groups: readonly Group[], text: string): Markup {
  const kinds = groups.map(({ kind }) => kind)
  return groups.some(isPart)
    ? html`Nothing that was searched has <bdi>“${text}”</bdi> in its name or address.`
    : html`None of the ${listed(kinds)} has <bdi>“${text}”</bdi> in its name or address.`
}

/** What was searched, where the search goes on, and what the role does not have. */
function searched(groups: readonly Group[], lacks: readonly string[]): Markup {
  const whole = groups.filter((group) => group.next === null && !isPart(group))
  const kinds = whole.map(({ kind }) => kind)
  const texts: readonly Fragment[] = [
    ...(kinds.length === 0 ? [] : [`all ${listed(kinds)}`]),
    ...groups.filter(isPart).map(partWithLink),
    ...groups
      .filter(({ next, isFull }) => next !== null && isFull)
      .map(({ kind }) => `${kind} until there were ${ROWS_SHOWN}`),
  ]
  return html`<p class="hint result">
    Searched: ${texts.map((text, index) => html`${index === 0 ? '' : '; '}${text}`)}.
    ${lacks.length === 0 ? undefined : `Your role cannot search ${listed(lacks)}.`}
  </p>`
}

function partWithLink({ part, list, next }: Group): Fragment {
  return next === null || list === undefined ? part : html`${part} · <a href="${list}">Search the rest</a>`
}

/** `users, clients and APIs`. */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
