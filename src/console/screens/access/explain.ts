import type { AccessExplanation } from '../../../admin/access/explain.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import type { Frame, Place } from '../../engine/form.ts'
import { linkFor, linkTo, rulePath } from '../../links.ts'
import { table } from '../../list.ts'
import { chip, id, name, scopes, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { groupsIcon, rulesIcon } from '../../icons.ts'
import { ruleState } from '../access-rules/rules-of.ts'
import { groupLink, sourceOf, stateOf } from '../groups/group.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from '../organizations/organization-tabs.ts'
import { ASKED, question } from './question.ts'

interface Answers {
  /** undefined: nothing is asked yet. */
  readonly explanation: AccessExplanation | undefined
}

type Way = AccessExplanation['ways'][number]

const TITLE = 'Why can a user not …'
const LEAD =
  'What a client can get for a user, scope by scope, and why not the rest: decided as a request would be. Nothing is changed, logged or counted.'

/** The address names a user and a client. */
function isAsked({ query }: Pick<Place, 'query'>): boolean {
  return [query['user_id'], query['client_id']].every((text) => text !== undefined && text !== '')
}

const read = (task: string) => ({ task, input: () => ({}), isAsked })

/** What a client can get for a user, and why not the rest. */
export const ACCESS = screen<Answers>({
  path: '/console/access',
  section: 'access',
  reads: { explanation: read('access.explain') },
  filters: ASKED,
  forms: [],
  names: () => ({}),
  view: ({ explanation }, frame) => ({
    title: TITLE,
    main: html`<div class="heading"><h1>${TITLE}</h1></div>
      ${explained(frame, explanation)}`,
  }),
})

/** The same in an organization: for tokens of it, and by what it has installed. */
export const ORGANIZATION_ACCESS = screen<Answers & HeadAnswers>({
  path: '/console/organizations/{organization_id}/access',
  section: 'access',
  reads: { explanation: read('organization-access.explain'), ...HEAD_READS },
  filters: ASKED,
  forms: [],
  names: () => ({}),
  about: ({ organization }) => organization.name,
  view(answers, frame) {
    const { organization, explanation } = answers
    const head =
      organizationHead(frame, answers, 'access', undefined) ??
      html`<div class="heading">
        <h1>${TITLE} <bdi>${organization.name}</bdi></h1>
      </div>`
    return { title: TITLE, main: html`${head} ${explained(frame, explanation)}` }
  },
})

function explained(frame: Frame, explanation: AccessExplanation | undefined): Markup {
  const asked = question(frame.place.path, { asked: ASKED, values: frame.place.query, lead: LEAD })
  if (explanation === undefined) return asked
  const { ways, groups, grants, more_apis: isPart } = explanation
  return html`${about(frame, explanation)} ${ways.map((way) => wayOf(frame, way))}
  ${isPart ? html`<p class="hint">There are more APIs than are explained here. Name one.</p>` : undefined}
  ${groupsOf(frame, groups)} ${grantsOf(frame, grants)} ${section('Ask again', asked)}`
}

/** Who asks for what, as the person typed it. */
function about(frame: Frame, { user_id: user, client_id: client, organization_id: owner }: AccessExplanation): Markup {
  const one = (kind: 'users' | 'clients' | 'organizations', object: string, typed: string | undefined): Markup => {
    const to = linkFor(frame, kind, object)
    if (typed === undefined || typed === object) return id(object, to)
    return to === undefined ? html`<bdi>${typed}</bdi>` : html`<a href="${to}">${name(typed, object)}</a>`
  }
  const { query } = frame.place
  const within = owner === null ? undefined : html` in ${one('organizations', owner, undefined)}`
  return html`<p>
    ${one('users', user, query['user_id'])} through ${one('clients', client, query['client_id'])}${within}
  </p>`
}

const WAYS = {
  'sign-in': 'What the user can allow',
  'for-member': 'What the client gets for the user, who does not sign in',
} as const

interface Row {
  readonly resource: string | null
  /** undefined: the API has no scopes, or nothing of it is asked for. */
  readonly scope: string | undefined
  readonly isGiven: boolean
  readonly why: string | null
}

function rowsOf({ resource, gives: isGiven, why, scopes: own }: Way['apis'][number]): readonly Row[] {
  const rows = own.map((one): Row => ({
    resource,
    scope: one.scope,
    isGiven: one.gives,
    why:
      [one.gives && one.on_request ? 'Only to a request that names it.' : '', one.why ?? ''].join(' ').trim() || null,
  }))
  return own.length === 0 || why !== null ? [{ resource, scope: undefined, isGiven, why }, ...rows] : rows
}

function wayOf(frame: Frame, { way, obstacles, apis, rules }: Way): readonly Fragment[] {
  const stops = obstacles.map(
    ({ why }) => html`<p class="notice bad" role="status"><span>Nothing is given. ${name(why, '')}</span></p>`,
  )
  const given = section(
    WAYS[way],
    html`${stops}
    ${table(
      { ...frame, forms: [] },
      {
        caption: WAYS[way],
        rows: apis.flatMap(rowsOf),
        empty: html`<p>No API has a scope.</p>`,
        columns: [
          {
            heading: 'Scope',
            cell: ({ scope }) => (scope === undefined ? html`<span class="muted">–</span>` : code(scope)),
          },
          {
            heading: 'Given',
            role: 'badge',
            cell: ({ isGiven }) => (isGiven ? chip('Yes', 'good') : chip('No', 'bad')),
          },
          { heading: 'Why', isRest: true, isProse: true, cell: ({ why }) => name(why, '–') },
          { heading: 'API', role: 'meta', cell: ({ resource }) => apiLink(frame, resource) },
        ],
      },
    )}`,
  )
  return [given, rulesIn(frame, rules)]
}

function apiLink(frame: Frame, resource: string | null): Fragment {
  if (resource === null) return html`<span class="muted">sign-in</span>`
  const to = linkTo('apis', resource)
  return frame.mayOpen(to) ? html`<a href="${to}">${code(resource)}</a>` : code(resource)
}

/** The rules that match the user, the client and the scopes. */
function rulesIn(frame: Frame, rules: Way['rules']): Markup | undefined {
  if (rules.length === 0) return undefined
  const items = rules.map((rule) => {
    const { rule_id: own, organization_id: owner, reads, because, sentence } = rule
    const to = own === null ? undefined : rulePath(own, owner)
    const shown = own === null ? 'A rule of the server' : html`Rule <bdi>${own}</bdi>`
    return html`<li data-row>
      ${rulesIcon}
      <p>${to !== undefined && frame.mayOpen(to) ? html`<a href="${to}">${shown}</a>` : shown} ${ruleState(rule)}</p>
      <div class="meta">
        <span
          >${[reads, ...because, sentence === null ? null : `Says: ${sentence}`].map((text) => (text === null ? undefined : html`${name(text, '')} `))}</span
        >
      </div>
    </li>`
  })
  return section(
    'Access rules that match',
    html`<ul class="feed" role="list">
      ${items}
    </ul>`,
  )
}

function groupsOf(frame: Frame, groups: AccessExplanation['groups']): Markup | undefined {
  if (groups.length === 0) return undefined
  return section(
    'Groups of the user, also those that ended lately',
    html`<ul class="feed" role="list">
      ${groups.map((one) => {
        const ended = one.ended_at ?? one.expires_at
        const until = ended === null ? undefined : html`, until ${time(ended, frame)}`
        return html`<li data-row>
          ${groupsIcon}
          <p>
            ${groupLink(frame, one.group_id)} ${one.ended_at === null ? stateOf(one, frame) : chip('Ended', 'quiet')}
          </p>
          <div class="meta"><span>said by ${sourceOf(one.source)}${until}</span></div>
        </li>`
      })}
    </ul>`,
  )
}

function grantsOf(frame: Frame, grants: AccessExplanation['grants']): Markup | undefined {
  if (grants.length === 0) return undefined
  return section(
    'Grants of the user for the client',
    table(
      { ...frame, forms: [] },
      {
        caption: 'Grants, newest first, and what the next token of each has',
        rows: grants,
        empty: undefined,
        columns: [
          { heading: 'Grant', cell: ({ grant_id: grant }) => id(grant, linkFor(frame, 'grants', grant)) },
          { heading: 'Has', cell: ({ scope }) => scopes(scope) },
          {
            heading: 'Next token',
            cell: ({ next_scope: next, reason }) => (next === null ? `none: ${reason ?? ''}` : scopes(next)),
          },
          { heading: 'Created', role: 'meta', cell: ({ created_at: at }) => time(at, frame) },
        ],
      },
    ),
  )
}
