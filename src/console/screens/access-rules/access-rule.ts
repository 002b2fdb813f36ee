import type { AccessRuleDocument, ShownAccessRule } from '../../../admin/access-rule/tasks.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { buttonsWithMore, formOf } from '../../engine/buttons.ts'
import { membersOf } from '../../engine/fields.ts'
import type { Form, Frame, Members } from '../../engine/form.ts'
import { linkFor, linkTo } from '../../links.ts'
import { table } from '../../list.ts'
import { facts, id, name, named, scopes, section, thingHeading, time } from '../../parts.ts'
import { screen, type AnyScreen } from '../../screen.ts'
import { organizationPath } from '../../sections.ts'
import { LEVELS } from '../../words.ts'
import { groupLink } from '../groups/group.ts'
import { RULE_FIELDS } from './access-rules.ts'
import { ruleState } from './rules-of.ts'

interface Answers {
  readonly rule: ShownAccessRule
}

/** A rule of the server. */
export const ACCESS_RULE = ruleScreen('access-rule', '/console/access-rules/{rule_id}')

/** A rule of an organization. */
export const ORGANIZATION_ACCESS_RULE = ruleScreen(
  'organization-access-rule',
  '/console/organizations/{organization_id}/access-rules/{rule_id}',
)

type Noun = 'access-rule' | 'organization-access-rule'

function ruleScreen(noun: Noun, path: string): AnyScreen {
  return screen<Answers>({
    path,
    section: 'access-rules',
    reads: { rule: { task: `${noun}.show`, input: () => ({}) } },
    filters: [],
    forms: formsOf(noun),
    names: ({ rule }) => ({ '': rule.rule_id }),
    about: ({ rule }) => rule.rule_id,
    view: ({ rule }, frame) => ({ title: rule.rule_id, main: rulePage(rule, frame, noun) }),
  })
}

function formsOf(noun: Noun): readonly Form[] {
  const first = ['state', ...RULE_FIELDS.filter((field) => field !== 'state')]
  return [
    {
      kind: 'edit',
      task: `${noun}.update`,
      fields: membersOf(`${noun}.update`, first),
      first,
      filled: (answers) => ruleIn(answers),
    },
    {
      kind: 'change',
      task: `${noun}.delete`,
      leadsTo: ({ organization_id: owner }) =>
        `${typeof owner === 'string' ? organizationPath(owner) : '/console'}/access-rules`,
    },
  ]
}

function ruleIn(answers: Members): ShownAccessRule {
  return (answers as unknown as Answers).rule
}

function rulePage(rule: ShownAccessRule, frame: Frame, noun: Noun): Markup {
  const { rule_id: object, organization_id: owner, reads, sentence, created_at: made, updated_at: changed } = rule
  const of = owner === null ? undefined : html`<span>of ${id(owner, linkFor(frame, 'organizations', owner))}</span>`
  const known = html`${of}
    <span>created ${time(made, frame)}</span>
    ${made === changed ? undefined : html`<span>changed ${time(changed, frame)}</span>`}`
  return html`${thingHeading(object, ruleState(rule), known, buttons(frame, noun))}
  ${section(
    'What it does',
    html`<p>${name(reads, '')}</p>
      ${exempt(rule)}`,
  )}
  ${section(
    'Parts',
    facts([
      ['People', condition(peopleOf(rule, frame), 'everyone')],
      ['Access', condition(accessOf(rule, frame), 'everything')],
      ['Clients', condition(clientsOf(rule, frame), 'all clients')],
      ['Effect', effectOf(rule)],
      ['Said to the person', name(sentence, 'Nothing')],
    ]),
  )}
  ${concerned(rule, frame)}`
}

/** Grants that the rule is about, whatever its state is. */
function concerned({ grants, names }: ShownAccessRule, frame: Frame): Markup {
  return section(
    'Grants that it is about',
    table(
      { ...frame, forms: [] },
      {
        caption: 'Grants, newest first',
        rows: grants,
        empty: html`<p>None of the newest 1,000 grants.</p>`,
        columns: [
          { heading: 'User', cell: ({ user_id: user }) => named(frame, 'users', user, names) },
          { heading: 'Client', cell: ({ client_id: client }) => named(frame, 'clients', client, names) },
          { heading: 'Scopes', isRest: true, cell: ({ scopes: tokens }) => scopes(tokens.join(' ')) },
          { heading: 'Grant', isWide: true, cell: ({ grant_id: grant }) => id(grant, linkFor(frame, 'grants', grant)) },
          { heading: 'Created', role: 'meta', cell: ({ created_at: at }) => time(at, frame) },
        ],
      },
    ),
  )
}

/** The console is exempt: no rule locks out its author. */
function exempt({ organization_id: owner }: AccessRuleDocument): Markup {
  return html`<p class="hint">
    ${owner === null ? 'The console is exempt.' : 'It holds for grants of the organization alone.'} A token without a
    user is not concerned.
  </p>`
}

function buttons(frame: Frame, noun: Noun): Markup | undefined {
  const lead = formOf(frame, `${noun}.update`)
  return buttonsWithMore(frame, {
    lead,
    main: lead[0],
    rest: formOf(frame, `${noun}.delete`),
    ending: [],
    labelOf: () => undefined,
  })
}

/** What a part of a rule names, and what it leaves alone. */
interface Named {
  readonly only: readonly Markup[]
  readonly except: readonly Markup[]
}

function condition({ only, except }: Named, all: string): Fragment {
  const list = (items: readonly Markup[]): Markup =>
    html`<ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>`
  const left = except.length === 0 ? undefined : html`<span class="muted">except</span> ${list(except)}`
  return html`${only.length === 0 ? all : list(only)} ${left}`
}

function peopleOf(rule: AccessRuleDocument, frame: Frame): Named {
  const of = (groups: readonly string[], organizations: readonly string[], users: readonly string[]) => [
    ...groups.map((one) => html`<span class="muted">group</span> ${groupLink(frame, one)}`),
    ...organizations.map((one) =>
      one === 'any'
        ? html`members of any organization`
        : html`<span class="muted">members of</span> ${id(one, linkFor(frame, 'organizations', one))}`,
    ),
    ...users.map((one) => html`<span class="muted">user</span> ${id(one, linkFor(frame, 'users', one))}`),
  ]
  return {
    only: of(rule.groups, rule.organizations, rule.users),
    except: of(rule.except_groups, rule.except_organizations, rule.except_users),
  }
}

function accessOf(rule: AccessRuleDocument, frame: Frame): Named {
  const api = (resource: string, shown: string): Markup => {
    const to = linkTo('apis', resource)
    return frame.mayOpen(to) ? html`<a href="${to}">${code(shown)}</a>` : code(shown)
  }
  const of = (apis: readonly string[], ofApis: readonly string[], isSignIn: boolean) => [
    ...apis.map((one) => html`<span class="muted">all of</span> ${api(one, one)}`),
    ...ofApis.map((one) => {
      const [resource = '', scope, ...others] = one.split('=')
      // Both may have the character, so that one alone tells where the identifier ends.
      return scope === undefined || others.length > 0 ? code(one) : api(resource, one)
    }),
    ...(isSignIn ? [html`sign-in (${code('openid')} and the other identity scopes)`] : []),
  ]
  return {
    only: of(rule.apis, rule.scopes, rule.sign_in),
    except: of(rule.except_apis, rule.except_scopes, rule.except_sign_in),
  }
}

function clientsOf(rule: AccessRuleDocument, frame: Frame): Named {
  const client = (term: string): Markup => {
    if (/^(source:|document:|unverified$)/.test(term)) return code(term)
    const to = linkFor(frame, 'clients', term)
    return to === undefined ? code(term) : html`<a href="${to}">${code(term)}</a>`
  }
  return { only: rule.clients.map(client), except: rule.except_clients.map(client) }
}

function effectOf({ require: level, max_age: age }: AccessRuleDocument): Fragment {
  if (level === 'none') return 'It is left out.'
  return `It needs ${LEVELS[level]}${age === null ? '' : `, at most ${age} s old`}.`
}
