import type { ConsentPage, ConsentProblem, OrganizationView } from '../ports/pages/pages.ts'
import { fieldProblem, pageProblem } from './form-parts.ts'
import type { View } from './layout.ts'
import { type Fragment, html, isolate, type Markup } from './markup.ts'

type OrganizationProblem = Extract<ConsentProblem, `organization-${string}`>

/** The organization that the client requested, as one of the facts. The user cannot choose another one. */
export function organizationFact({ texts }: View, { organization }: ConsentPage): Fragment {
  if (organization?.kind !== 'fixed') return undefined
  return html`<div>
    <dt>${texts.show('organization')}</dt>
    <dd>${isolate(organization.name)}</dd>
  </div>`
}

/**
 * The field in which the user chooses an organization. When there is nothing to choose, only the problem, if there is one.
 */
export function organizationField(view: View, { organization, problem }: ConsentPage): Fragment {
  const own = problem !== undefined && isOfOrganization(problem) ? problem : undefined
  if (organization?.kind === 'choice') return field(view, organization, own)
  return own === undefined ? undefined : pageProblem(complaint(view, own))
}

function isOfOrganization(problem: ConsentProblem): problem is OrganizationProblem {
  return problem === 'organization-missing' || problem === 'organization-gone'
}

function field(
  view: View,
  { options, selected }: Extract<OrganizationView, { readonly kind: 'choice' }>,
  problem: OrganizationProblem | undefined,
): Markup {
  const { texts } = view
  const described = problem === undefined ? 'organization-hint' : 'organization-hint organization-problem'
  return html`<div class="field">
    <label for="organization">${texts.show('organization')}</label>
    <p class="small muted hint" id="organization-hint">${texts.show('organizationHint')}</p>
    <select id="organization" name="organization" aria-describedby="${described}" ${marks(selected, problem)}>
      ${selected === undefined ? html`<option value="">${texts.say('chooseOrganization')}</option>` : undefined}
      ${options.map(
        ({ value, name }) =>
          html`<option value="${value}" dir="auto" ${value === selected ? html` selected` : undefined}>
            ${name ?? texts.say('withoutOrganization')}
          </option> `,
      )}
    </select>
    ${problem === undefined ? undefined : fieldProblem('organization-problem', complaint(view, problem))}
  </div>`
}

/** `required` makes the browser ask for a choice before `Allow`. `Deny` skips that check. */
function marks(selected: string | undefined, problem: OrganizationProblem | undefined): Fragment {
  return [
    selected === undefined ? html` required` : undefined,
    problem === undefined ? undefined : html` aria-invalid="true" autofocus`,
  ]
}

function complaint({ texts }: View, problem: OrganizationProblem): Markup {
  return texts.show(problem === 'organization-missing' ? 'organizationMissing' : 'organizationGone')
}
