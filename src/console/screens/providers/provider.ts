import { inputFields } from '../../engine/input-fields.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import type { ProviderDocument } from '../../../admin/provider/settings.ts'
import { findTask } from '../../../admin/tasks.ts'
import { code, html, type Fragment } from '../../../web/markup.ts'
import { membersOf } from '../../engine/fields.ts'
import { signInRules } from './provider-rules.ts'
import { providerState, trialCaution } from './providers.ts'
import { actions, formsFor } from '../../engine/buttons.ts'
import { chip, copyButton, facts, id, name, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { changes, type Form, type Members } from '../../engine/form.ts'
import { testResult } from './test-result.ts'

interface Answers {
  readonly provider: ProviderDocument
  readonly organizations: { readonly organizations: readonly OrganizationDocument[] }
}

const FIRST = ['name', 'client_id', 'client_secret', 'domains', 'sign_up', 'link']
const SETTINGS = membersOf('provider.update', FIRST)

const FORMS: readonly Form[] = [
  {
    kind: 'report',
    task: 'provider.test',
    shows: { above: testResult },
    fields: [],
  },
  {
    kind: 'edit',
    task: 'provider.update',
    caution: trialCaution,
    fields: SETTINGS,
    first: FIRST,
    filled: ({ provider }) => provider as Members,
  },
  ...changes('provider.disable'),
  {
    kind: 'change',
    task: 'provider.enable',
    caution: trialCaution,
  },
  {
    kind: 'change',
    task: 'provider.delete',
    leadsTo: () => '/console/providers',
  },
]

export const PROVIDER = screen<Answers>({
  path: '/console/providers/{provider_id}',
  section: 'providers',
  reads: {
    provider: { task: 'provider.show', input: () => ({}) },
    organizations: { task: 'organization.list', input: () => ({ limit: 1000 }) },
  },
  filters: [],
  forms: FORMS,
  names: ({ provider }) => ({ '': provider.name }),
  view({ provider, organizations: { organizations } }, frame) {
    const { provider_id: provided, organization_id: organization } = provider
    const called = organizations.find(({ organization_id: one }) => one === organization)?.name
    const final = formsFor(frame, provided, provider, true)
    return {
      title: provider.name,
      main: html`<div class="heading">
          <h1>${name(provider.name, '(no name)')}</h1>
          ${providerState(provider)} ${actions(frame, formsFor(frame, provided, provider, false))}
        </div>
        <p class="sub"><span>${code(provided)}</span> <span>created ${time(provider.created_at, frame)}</span></p>
        ${facts([
          [
            'Redirect URI',
            html`${code(provider.redirect_uri)}${copyButton(provider.redirect_uri)}
              <p class="hint">Register it at the provider.</p>`,
          ],
          ['Issuer', code(provider.issuer)],
          [
            'Client secret',
            provider.has_secret
              ? html`set <span class="muted">It is never shown.</span>`
              : html`${chip('Missing', 'bad')} The master key was replaced. Change the provider to set it again.`,
          ],
          ['Disabled', provider.disabled_at === null ? undefined : time(provider.disabled_at, frame)],
          ['Organization', organization === null ? undefined : html`${name(called, '(no name)')} ${id(organization)}`],
        ])}
        ${section('What happens to a person who signs in there', facts(signInRules(provider)))}
        ${section('Settings', facts(settings(provider)))}
        ${final.length === 0 ? undefined : html`<section>${actions(frame, final)}</section>`}`,
    }
  },
})

/** All that can be changed, by the words of the form. */
function settings(provider: Members): readonly (readonly [label: string, what: Fragment])[] {
  const task = findTask('provider.update')
  const fields = task === undefined ? [] : inputFields(task, SETTINGS)
  return fields
    .filter(({ kind, name: member }) => kind !== 'password' && member !== 'organization_id')
    .map(({ name: member, label }) => [label, valueOf(provider[member])] as const)
}

function valueOf(value: unknown): Fragment {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const isText = typeof value === 'string' || typeof value === 'number'
  const texts = Array.isArray(value) ? value.map(String) : isText ? [String(value)] : []
  if (texts.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${texts.map((text) => html`<li>${code(text)}</li>`)}
  </ul>`
}
