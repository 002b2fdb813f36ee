import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { DomainDocument } from '../../admin/domain.ts'
import type { GrantDocument } from '../../admin/grant.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { feed, type ListedEvents } from '../feed.ts'
import { questionAbout } from './access/question.ts'
import { concerningRules, rulesOf, type ListedRules } from './access-rules/rules-of.ts'
import { accessOf, actsAlone, installationsOf, type Installed } from './client-access.ts'
import { APPROVE, CREDENTIAL_FORMS, SETTING_FORMS } from './client-forms.ts'
import { originOf, settingsInShort, settingsOf } from './client-settings.ts'
import { needsDecision } from './client-decision.ts'
import { CLIENT_FORMS, registered, trust } from './clients.ts'
import { grantColumns, grantItem, groupedGrants, REVOKE_GRANT } from './grants.ts'
import { usersIcon } from '../icons.ts'
import { linkTo, listAddress } from '../links.ts'
import { buttonsWithMore, formsFor } from '../engine/buttons.ts'
import { table } from '../list.ts'
import { id, named, section, tabBar, thingHeading, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, Frame, Place, Texts } from '../engine/form.ts'

interface Answers {
  readonly client: ClientDocument
  readonly domains: { readonly domains: readonly DomainDocument[] }
  readonly apis: { readonly apis: readonly ApiDocument[] }
  readonly installations: Installed
  readonly grants: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
  readonly audit: ListedEvents
  readonly rules: ListedRules
}

const INSTALLATIONS_SHOWN = 20

/** The parts of the page, by the parameter of its address, with what each shows of the two long lists. */
const PARTS = {
  summary: { grants: 20, events: 6 },
  grants: { grants: 50, events: 1 },
  activity: { grants: 20, events: 50 },
  settings: { grants: 20, events: 1 },
} as const
type Part = keyof typeof PARTS

function partOf({ query }: Pick<Place, 'query'>): Part {
  const names = Object.keys(PARTS) as readonly Part[]
  return names.find((name) => name === query['tab']) ?? 'summary'
}

const FORMS: readonly Form[] = [
  ...CLIENT_FORMS,
  APPROVE,
  ...SETTING_FORMS,
  ...CREDENTIAL_FORMS,
  { ...REVOKE_GRANT, rows: { member: 'grant_id' } },
]

export const CLIENT = screen<Answers>({
  path: '/console/clients/{client_id}',
  section: 'clients',
  reads: {
    client: { task: 'client.show', input: () => ({}) },
    apis: { task: 'api.list', input: () => ({}) },
    installations: { task: 'client.list-installations', input: () => ({ limit: INSTALLATIONS_SHOWN }) },
    rules: concerningRules('client_id'),
    domains: { task: 'domain.list', input: () => ({ limit: 1000 }) },
    grants: {
      task: 'grant.list',
      input: (place) => ({ client_id: place.parameters['client_id'], limit: PARTS[partOf(place)].grants }),
    },
    audit: {
      task: 'audit.list',
      input: (place) => ({ client_id: place.parameters['client_id'], limit: PARTS[partOf(place)].events }),
    },
  },
  filters: [],
  keeps: ['tab'],
  forms: FORMS,
  names: ({ client, grants }) => ({ ...grants.names, '': listedNameOf(client) ?? client.client_id }),
  view: (answers, frame) => ({
    title: listedNameOf(answers.client) ?? answers.client.client_id,
    main: html`${heading(answers.client, frame)} ${tabs(answers, frame)} ${content(answers, frame)}`,
  }),
})

/** How a client came to the server, as the first words of when it did. */
const CAME = { operator: 'created', registration: 'registered itself', document: 'came by a document' } as const

function heading(client: ClientDocument, frame: Frame): Markup {
  const used = client.last_used_at ?? client.used_at
  const known = html`${id(client.client_id)} <span>${CAME[originOf(client)]} ${registered(client, frame)}</span>
    <span>${used === null ? 'never used' : html`last used ${time(used, frame)}`}</span>`
  return thingHeading(listedNameOf(client) ?? '', trust(client), known, buttons(client, frame))
}

/** Tasks that end something and can be undone. */
const ENDING: readonly string[] = ['client.unverify', 'client.disable']

/** What the state of the client asks for. What it is set to is changed on the tab of the settings. */
function buttons(client: ClientDocument, frame: Frame): Markup | undefined {
  const offered = [...CLIENT_FORMS, APPROVE].map(({ task }) => task)
  const forms = [false, true]
    .flatMap((isFinal) => formsFor(frame, client.client_id, client, isFinal))
    .filter(({ task }) => offered.includes(task))
  const first =
    client.disabled_at !== null
      ? ['client.enable']
      : [...(client.trust_level === 'unverified' ? ['client.verify'] : []), 'client.disable']
  const lead = first.flatMap((task) => forms.filter((form) => form.task === task))
  return buttonsWithMore(frame, {
    lead,
    main: lead.find(({ task }) => !ENDING.includes(task)),
    rest: forms.filter((form) => !lead.includes(form)),
    ending: ENDING,
    labelOf: () => undefined,
  })
}

function tabs({ client, grants }: Answers, { place }: Frame): Markup {
  const current = partOf(place)
  const path = linkTo('clients', client.client_id)
  const active = grants.grants.filter(({ inactive_reason: reason }) => reason === null).length
  const count = html` <span class="count">${active}${grants.next === null ? '' : '+'}</span>`
  const one = (part: Part, label: Fragment) => ({
    label,
    to: part === 'summary' ? path : `${path}?tab=${part}`,
    isCurrent: part === current,
  })
  return tabBar('Client', [
    one('summary', 'Summary'),
    one('grants', html`Grants${active === 0 ? undefined : count}`),
    one('activity', 'Activity'),
    one('settings', 'Settings'),
    { label: 'Consent page', to: `${path}/consent`, isCurrent: false },
  ])
}

function content(answers: Answers, frame: Frame): Markup {
  switch (partOf(frame.place)) {
    case 'summary':
      return summary(answers, frame)
    case 'grants':
      return section('Grants', grantTable(frame, answers.grants), allOf('grants', answers.client))
    case 'activity':
      return activity(answers, frame)
    case 'settings':
      return settingsOf(frame, answers)
  }
}

function summary(answers: Answers, frame: Frame): Markup {
  const { client, installations, apis, rules } = answers
  const settings = `${linkTo('clients', client.client_id)}?tab=settings`
  const alone = actsAlone(client) ? accessOf(frame, client, installations, apis.apis) : undefined
  return html`<div class="split">
    <div>
      ${needsDecision(answers, frame)} ${users(answers, frame)} ${installationsOf(frame, client, installations)}
      ${alone} ${activity(answers, frame)}
    </div>
    <div>
      ${section('Settings', settingsInShort(client), html`<a href="${settings}">All settings</a>`)}
      ${rulesOf(frame, rules, 'client_id', client.client_id)} ${questionAbout(frame, { client_id: client.client_id })}
    </div>
  </div>`
}

/** Who allowed it something, each user with an organization once. */
function users({ client, grants: { grants, names, next } }: Answers, frame: Frame): Fragment {
  const groups = groupedGrants(grants, ({ user_id: user }) => user)
  if (groups.length === 0 && actsAlone(client)) return undefined
  const people = new Set(groups.map(({ of }) => of)).size
  const count = `${people}${next === null ? '' : ' or more'} ${people === 1 ? 'user' : 'users'}`
  return section(
    html`Who uses it ${people === 0 ? undefined : html`<span class="count">${count}</span>`}`,
    groups.length === 0
      ? html`<div class="empty"><p>No grant is active.</p></div>`
      : html`<ul class="feed" role="list">
          ${groups.slice(0, GROUPS_SHOWN).map((group) =>
            grantItem(
              frame,
              group,
              names,
              html`${usersIcon}
                <p>${named(frame, 'users', group.of, names)}</p>`,
            ),
          )}
        </ul>`,
    allOf('grants', client),
  )
}

const GROUPS_SHOWN = 8

function activity({ client, audit }: Answers, frame: Frame): Markup {
  const place = { own: client.client_id, none: 'Nothing has happened with this client lately.' }
  return section('Activity', feed(frame, audit, place), allOf('audit', client))
}

/** The list of the whole server, for this client. */
function allOf(list: 'grants' | 'audit', { client_id: client }: ClientDocument): Markup {
  const label = list === 'grants' ? 'All grants' : 'All activity'
  return html`<a href="${listAddress(list, 'client_id', client)}">${label}</a>`
}

function grantTable(frame: Frame, { grants, names }: Answers['grants']): Fragment {
  return table(frame, {
    caption: 'Grants of the client, newest first',
    rows: grants,
    empty: html`<p>No grant is active.</p>`,
    columns: grantColumns(frame, names, 'client'),
  })
}
