import type { AccessRuleDocument } from '../../../admin/access-rule/tasks.ts'
import { forShell } from '../../../base/shell.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { askLinks } from '../../engine/buttons.ts'
import { membersOf } from '../../engine/fields.ts'
import type { Form, Frame } from '../../engine/form.ts'
import { fromList, rulePath } from '../../links.ts'
import { filterBar, listHeading, nothing, table } from '../../list.ts'
import { name, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { HEAD_READS, organizationHead, type HeadAnswers } from '../organizations/organization-tabs.ts'
import { ruleState, type ListedRules } from './rules-of.ts'

interface Answers {
  readonly list: ListedRules
}

/** What most rules have; the other members are behind a word. */
export const RULE_FIELDS = ['groups', 'except_groups', 'clients', 'apis', 'scopes', 'require', 'sentence', 'state']

/** The rules of the server. Those of an organization are created on its page. */
export const ACCESS_RULES = screen<Answers>({
  path: '/console/access-rules',
  section: 'access-rules',
  reads: { list: { task: 'access-rule.list', input: () => ({}) } },
  filters: ['text', 'client_id', 'resource'],
  forms: [creating('access-rule.create')],
  names: () => ({}),
  view: ({ list }, frame) => ({
    title: 'Access rules',
    main: html`${listHeading(frame, 'Access rules', { shown: list.access_rules.length, next: list.next }, askLinks(frame, 'access-rule.create'))}
    ${ruleTable(frame, list, 'grantor access-rule create <id> --client <client_id> --except-group <group>')}`,
  }),
})

/** The rules of one organization, for grants of it alone. */
export const ORGANIZATION_ACCESS_RULES = screen<Answers & HeadAnswers>({
  path: '/console/organizations/{organization_id}/access-rules',
  section: 'access-rules',
  reads: { list: { task: 'organization-access-rule.list', input: () => ({}) }, ...HEAD_READS },
  filters: ['text'],
  forms: [creating('organization-access-rule.create')],
  names: () => ({}),
  about: ({ organization }) => organization.name,
  view(answers, frame) {
    const { list, organization } = answers
    const title = `Access rules of ${organization.name}`
    const buttons = html`<div class="actions">${askLinks(frame, 'organization-access-rule.create')}</div>`
    const head =
      organizationHead(frame, answers, 'access-rules', buttons) ??
      listHeading(
        frame,
        html`Access rules of <bdi>${organization.name}</bdi>`,
        { shown: list.access_rules.length, next: list.next },
        buttons,
      )
    // A role for the organization has no command line.
    const example =
      frame.organization === undefined
        ? `grantor access-rule create <id> --except-client <client_id> --of ${forShell(organization.organization_id)}`
        : undefined
    return { title, main: html`${head} ${ruleTable(frame, list, example)}` }
  },
})

function creating(task: 'access-rule.create' | 'organization-access-rule.create'): Form {
  return {
    kind: 'create',
    task,
    fields: membersOf(task, ['rule_id', ...RULE_FIELDS]),
    first: ['rule_id', ...RULE_FIELDS],
    preset: () => ({ require: 'none', state: 'on' }),
    leadsTo: ({ rule_id: rule, organization_id: owner }) => rulePath(String(rule), owner as string | null),
  }
}

/** `example`: the command that makes the first rule. */
function ruleTable(frame: Frame, { access_rules: rules, next }: ListedRules, example: string | undefined): Markup {
  return html`${filterBar(frame)}
  ${table(frame, {
    caption: 'Access rules, by their ids',
    rows: rules,
    next,
    empty: nothing(
      frame,
      'An access rule takes a part of what clients can get away from some people, or demands a level of them. Nothing grants: without a rule, any user may consent to any client for any scope.',
      example,
    ),
    columns: [
      { heading: 'Rule', cell: (rule) => idLink(frame, rule) },
      { heading: 'State', role: 'badge', cell: ruleState },
      { heading: 'What it does', isRest: true, cell: ({ reads }) => name(reads, '') },
      { heading: 'Changed', role: 'meta', cell: ({ updated_at: at }) => time(at, frame) },
    ],
  })}`
}

function idLink(frame: Frame, { rule_id: rule, organization_id: owner }: AccessRuleDocument): Markup {
  return html`<a href="${fromList(frame, rulePath(rule, owner))}"><bdi>${rule}</bdi></a>`
}
