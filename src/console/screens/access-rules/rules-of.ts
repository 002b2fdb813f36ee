import type { AccessRuleDocument } from '../../../admin/access-rule/tasks.ts'
import { html, type Markup } from '../../../web/markup.ts'
import type { Frame } from '../../engine/form.ts'
import { rulesIcon } from '../../icons.ts'
import { listAddress, rulePath } from '../../links.ts'
import { chip, name, section } from '../../parts.ts'

/** A list of rules, such as those that concern an object. */
export interface ListedRules {
  readonly access_rules: readonly AccessRuleDocument[]
  readonly next: string | null
}

const RULES_SHOWN = 10

/** What the page of a client or of an API reads. `filter`: the member that names the object. */
export function concerningRules(filter: 'client_id' | 'resource') {
  return {
    task: 'access-rule.list',
    input: ({ parameters }: Frame['place']) => ({ [filter]: parameters[filter], limit: RULES_SHOWN }),
  } as const
}

const TONES = { on: 'good', report: 'caution', off: 'quiet' } as const
const STATES = { on: 'On', report: 'Report', off: 'Off' } as const

/** Whether a rule takes something. */
export function ruleState({ state }: Pick<AccessRuleDocument, 'state'>): Markup {
  return chip(STATES[state], TONES[state])
}

/** The id of a rule, which leads to its page. */
function ruleLink(
  { mayOpen }: Pick<Frame, 'mayOpen'>,
  { rule_id: rule, organization_id: owner }: Pick<AccessRuleDocument, 'rule_id' | 'organization_id'>,
): Markup {
  const to = rulePath(rule, owner)
  return mayOpen(to) ? html`<a href="${to}"><bdi>${rule}</bdi></a>` : html`<bdi>${rule}</bdi>`
}

/** The rules that concern a client or an API, each with what it does. undefined: no rule does. */
export function rulesOf(
  frame: Frame,
  { access_rules: rules, next }: ListedRules,
  filter: 'client_id' | 'resource',
  object: string,
): Markup | undefined {
  if (rules.length === 0) return undefined
  const all = next === null ? 'In the list' : 'All in the list'
  return section(
    'Access rules',
    html`<ul class="feed" role="list">
      ${rules.map(
        (rule) =>
          html`<li data-row>
            ${rulesIcon}
            <p>${ruleLink(frame, rule)} ${ruleState(rule)}</p>
            <div class="meta"><span>${name(rule.reads, '')}</span></div>
          </li>`,
      )}
    </ul>`,
    html`<a href="${listAddress('access-rules', filter, object)}">${all}</a>`,
  )
}
