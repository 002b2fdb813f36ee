import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { describeListing, type ProviderDocument } from '../../../admin/provider/settings.ts'
import { html, type Fragment, type Markup } from '../../../web/markup.ts'
import { feed, type ListedEvents } from '../../feed.ts'
import { linkTo, listAddress } from '../../links.ts'
import { askLinks, buttonsWithMore, formsFor, mainAskLink } from '../../engine/buttons.ts'
import { table } from '../../list.ts'
import { chip, facts, name, section } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { changes, type Form, type Frame, type Place } from '../../engine/form.ts'
import { ADD_MEMBER, INVITE_MEMBER, memberColumns } from './members.ts'
import {
  HEAD_READS,
  organizationHead,
  ROWS_SHOWN,
  type HeadAnswers,
  type OrganizationPart,
} from './organization-tabs.ts'

interface Answers extends HeadAnswers {
  readonly members: NonNullable<HeadAnswers['members']>
  readonly audit: ListedEvents | undefined
}

const [EVENTS_SHOWN, ALL_EVENTS_SHOWN] = [6, 50]

const FORMS: readonly Form[] = [
  INVITE_MEMBER,
  ADD_MEMBER,
  {
    kind: 'edit',
    task: 'organization.rename',
    fields: ['name'],
    filled: (answers) => ({ name: (answers as unknown as Answers).organization.name }),
  },
  ...changes('organization.disable', 'organization.enable', 'organization.revoke-tokens'),
  {
    kind: 'change',
    task: 'organization.delete',
    leadsTo: () => '/console/organizations',
  },
]

/** The part that the address names, of those that are no screens. */
function partOf({ query }: Pick<Place, 'query'>): OrganizationPart {
  const { tab } = query
  return tab === 'sign-in' || tab === 'activity' ? tab : 'members'
}

/** One organization. A role for it does not have this page, which also shows what is of the server. */
export const ORGANIZATION = screen<Answers>({
  path: '/console/organizations/{organization_id}',
  section: 'organizations',
  reads: {
    ...HEAD_READS,
    members: { task: 'member.list', input: HEAD_READS.members.input },
    providers: {
      task: 'provider.list',
      input: ({ parameters }) => ({ organization_id: parameters['organization_id'], limit: ROWS_SHOWN }),
      isOptional: true,
    },
    audit: {
      task: 'audit.list',
      input: (place) => ({
        organization_id: place.parameters['organization_id'],
        limit: partOf(place) === 'activity' ? ALL_EVENTS_SHOWN : EVENTS_SHOWN,
      }),
      isOptional: true,
    },
  },
  filters: [],
  keeps: ['tab'],
  forms: FORMS,
  about: ({ organization }) => organization.name,
  names: ({ organization }) => ({ '': organization.name }),
  view: (answers, frame) => ({
    title: answers.organization.name,
    main: html`${organizationHead(frame, answers, partOf(frame.place), buttons(answers.organization, frame))}
    ${content(answers, frame)}`,
  }),
})

/** Tasks that end something and can be undone. */
const ENDING: readonly string[] = ['organization.disable']

function buttons(organization: OrganizationDocument, frame: Frame): Markup | undefined {
  const forms = [false, true]
    .flatMap((isFinal) => formsFor(frame, organization.organization_id, organization, isFinal))
    .filter(({ task }) => task.startsWith('organization.'))
  const isDisabled = organization.disabled_at !== null
  const lead = forms.filter(({ task }) => task === (isDisabled ? 'organization.enable' : 'organization.rename'))
  return buttonsWithMore(frame, {
    before: isDisabled ? undefined : mainAskLink(frame, INVITE_MEMBER.task),
    lead,
    main: isDisabled ? lead[0] : undefined,
    rest: forms.filter((form) => !lead.includes(form)),
    ending: ENDING,
    labelOf: () => undefined,
  })
}

function content(answers: Answers, frame: Frame): Fragment {
  switch (partOf(frame.place)) {
    case 'sign-in':
      return signIn(answers, frame)
    case 'activity':
      return activity(answers, frame)
    default:
      return html`${membersOf(answers, frame)}
        <div class="columns">${signIn(answers, frame)} ${activity(answers, frame)}</div>`
  }
}

function membersOf({ organization, members: { members }, providers }: Answers, frame: Frame): Markup {
  const list = `${linkTo('organizations', organization.organization_id)}/members`
  const hasDomains = providers?.providers.some(({ domains }) => domains.length > 0) === true
  const search = html`<form method="get" action="${list}">
    <input name="text" aria-label="Name or address" placeholder="Name or address" autocomplete="off" />
  </form>`
  return section(
    'Newest members',
    html`<div class="chips">
        <div>
          ${search} <a href="${list}">All members</a>
          ${hasDomains ? html`<a href="${list}?outside_domains=true">Without an address of its domains</a>` : undefined}
        </div>
      </div>
      ${table(frame, {
        caption: 'Members, newest users first',
        rows: members,
        empty: html`<p>No user is a member.</p>`,
        columns: memberColumns(frame),
      })}`,
    html`<span class="actions">${askLinks(frame, ADD_MEMBER.task)}</span>`,
  )
}

/** At which providers members sign in, and whom the sign-in page leads there. */
function signIn({ organization, providers }: Answers, frame: Frame): Fragment {
  if (providers === undefined) return undefined
  const { providers: own, next } = providers
  const all = listAddress('providers', 'organization_id', organization.organization_id)
  const connect = `${all}#connect`
  const empty = html`<div class="empty">
    <p>No provider belongs to the organization, so its members sign in as all users do.</p>
    ${frame.mayWrite ? html`<p><a href="${connect}">Connect a provider</a></p>` : undefined}
  </div>`
  return section(
    'Sign-in',
    own.length === 0 ? empty : facts(own.flatMap(provider)),
    next === null ? undefined : html`<a href="${all}">All</a>`,
  )
}

function provider(one: ProviderDocument): readonly (readonly [string, Fragment])[] {
  const { provider_id: object, name: text, domains, routing, disabled_at: disabled } = one
  const state = disabled === null ? chip('Enabled', 'good') : chip('Disabled', 'bad')
  const rule = routing === 'required' ? 'must sign in there' : 'may sign in there'
  return [
    ['Provider', html`<a href="${linkTo('providers', object)}">${name(text, object)}</a> ${state}`],
    ['Addresses', domains.length === 0 ? undefined : html`<bdi>${domains.join(', ')}</bdi> ${rule}`],
    ['Button', describeListing(one)],
  ]
}

function activity({ organization, audit }: Answers, frame: Frame): Fragment {
  if (audit === undefined) return undefined
  const { organization_id: object } = organization
  const place = { own: object, none: 'Nothing has happened for this organization lately.' }
  const all = html`<a href="${listAddress('audit', 'organization_id', object)}">All activity</a>`
  return section('Activity', feed(frame, audit, place), all)
}
