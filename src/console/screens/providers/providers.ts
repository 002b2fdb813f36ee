import { templateMembers, type ProviderDocument } from '../../../admin/provider/settings.ts'
import { PAGE_LIMIT } from '../../../admin/page.ts'
import type { ServerDocument } from '../../../admin/server.ts'
import {
  parseProviderId,
  PROVIDER_ID_FORM,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderTemplateName,
} from '../../../protocol/sign-in/provider.ts'
import { code, html, type Markup } from '../../../web/markup.ts'
import { choosingForm } from '../../engine/ask.ts'
import { membersOf } from '../../engine/fields.ts'
import { fromList, linkTo } from '../../links.ts'
import { filterBar, listHeading, nothing, table } from '../../list.ts'
import { chip, copyButton, name, section, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { formWords, type Form, type Frame, type Members, type Named, type Texts, type View } from '../../engine/form.ts'
import { said } from '../../engine/notice.ts'
import { notTested, testResult } from './test-result.ts'

interface Answers {
  readonly list: { readonly providers: readonly ProviderDocument[]; readonly next: string | null }
  /** Those that may have the id that the person chose for a new one. */
  readonly named: { readonly providers: readonly ProviderDocument[] }
  readonly server: ServerDocument
}

const PATH = '/console/providers'
/** What the redirect URI follows from, and what presets the settings: chosen before the form, because the provider wants the URI first. */
const CHOSEN = ['template', 'provider_id']
/** What the form has from where it was opened. */
const KEPT = ['organization_id']
const FIRST = ['issuer', 'name', 'client_id', 'client_secret', 'domains', 'sign_up', 'link']

const CREATE: Form = {
  kind: 'create',
  task: 'provider.create',
  caution: trialCaution,
  fields: membersOf('provider.create', [...CHOSEN, ...FIRST]),
  first: FIRST,
  step: { fields: CHOSEN, choose: choosing, chosen: registerFirst },
  preset: ({ template = '' }, { place: { query } }) => ({
    ...(isTemplate(template) ? templateMembers(template) : {}),
    organization_id: query['organization_id'],
  }),
  shows: { reads: testOf, view: created },
}

/** Before a form that an administrator for a trial cannot send. */
export function trialCaution(_: Members, { isLoopbackOnly }: Frame): string | undefined {
  return isLoopbackOnly
    ? 'Your own role counts only while the issuer is a loopback address, so the command line alone connects and changes providers.'
    : undefined
}

export const PROVIDERS = screen<Answers>({
  path: PATH,
  section: 'providers',
  reads: {
    list: { task: 'provider.list', input: () => ({}) },
    named: {
      task: 'provider.list',
      input: ({ query: { provider_id: id } }) =>
        id === undefined ? { limit: 1 } : { name: id, limit: PAGE_LIMIT.most },
    },
    server: { task: 'server.show', input: () => ({}) },
  },
  filters: ['name', 'organization_id'],
  keeps: CHOSEN,
  forms: [CREATE],
  names: () => ({}),
  view: ({ list }, frame) => ({
    title: 'Sign-in providers',
    main: html`${listHeading(frame, 'Sign-in providers', { shown: list.providers.length, next: list.next }, frame.mayWrite ? html`<a class="button" href="#connect">${formWords(CREATE).label}</a>` : undefined)}
    ${filterBar(frame)}
    ${table(frame, {
      caption: 'Providers at which users sign in, by their ids',
      rows: list.providers,
      next: list.next,
      empty: nothing(
        frame,
        'Users sign in with their accounts at Google, Microsoft Entra, Okta, Keycloak, GitHub or any other OpenID provider after you have connected it.',
        'grantor provider create <template> --id <id> --name <name> --client-id <id> --client-secret -',
      ),
      columns: [
        {
          heading: 'Name',
          cell: (one) =>
            html`<a href="${fromList(frame, linkTo('providers', one.provider_id))}">${name(one.name, '(no name)')}</a>`,
        },
        { heading: 'Id', role: 'meta', cell: ({ provider_id: id }) => code(id) },
        { heading: 'Issuer', cell: ({ issuer }) => code(issuer) },
        { heading: 'State', role: 'badge', cell: providerState },
        {
          heading: 'Domains',
          isWide: true,
          cell: ({ domains }) => (domains.length === 0 ? html`<span class="muted">none</span>` : domains.join(', ')),
        },
        { heading: 'On the sign-in page', isWide: true, cell: ({ listed }) => (listed ? 'yes' : 'no') },
        { heading: 'Created', role: 'meta', cell: ({ created_at: at }) => time(at, frame) },
      ],
    })}
    ${frame.mayWrite ? html`<div id="connect">${section(formWords(CREATE).label, choosingForm(CREATE, PATH, { values: frame.place.query, errors: {}, isAside: true, kept: KEPT }))}</div>` : undefined}`,
  }),
})

export function providerState({ disabled_at: disabled, usable, has_secret: hasSecret }: ProviderDocument): Markup {
  if (disabled !== null) return chip('Disabled', 'bad')
  if (!hasSecret) return chip('Without secret', 'bad')
  return usable ? chip('Enabled', 'good') : chip('Not used', 'caution')
}

/** The form has the redirect URI, so it needs a template and an id that can be used. */
function choosing(answers: Members, values: Texts): Markup | undefined {
  const errors = faultsOf(answers as unknown as Answers, values)
  return errors && choosingForm(CREATE, PATH, { values, errors, kept: KEPT })
}

function faultsOf({ named }: Answers, { template, provider_id: id = '' }: Texts): Texts | undefined {
  // A link leads to the form, which sends both.
  if (template === undefined) return {}
  if (!PROVIDER_ID_FORM.test(id))
    return {
      provider_id:
        'The id of a provider has up to 31 lower-case letters, digits and hyphens, and begins with a letter.',
    }
  if (parseProviderId(id) === undefined) return { provider_id: 'This id is reserved.' }
  if (named.providers.some(({ provider_id: known }) => known === id))
    return { provider_id: `There is already a provider ${id}.` }
  return isTemplate(template) ? undefined : { template: 'Choose a template.' }
}

function isTemplate(text: string): text is ProviderTemplateName {
  return Object.hasOwn(PROVIDER_TEMPLATES, text)
}

/** What the person does at the provider before the form can be filled in. */
function registerFirst(
  answers: Members,
  { template = '', provider_id: text = '', organization_id: organization = '' }: Texts,
): Markup | undefined {
  const { server } = answers as unknown as Answers
  const id = parseProviderId(text)
  if (id === undefined) return undefined
  const uri = providerRedirectUri(server.issuer, id)
  return html`<div class="step">
    <p><strong>First</strong> register an application at the provider, with this redirect URI:</p>
    <p class="address"><code>${uri}</code> ${copyButton(uri)}</p>
    <p>
      <strong>Then</strong> fill in what the provider says of the application. The id here is ${code(id)}, and the
      settings are those for ${code(template)} at first.
      ${organization === '' ? undefined : html`The provider will belong to the organization ${code(organization)}.`}
      <a href="${PATH}#connect">Choose another id</a>
    </p>
  </div>`
}

/** Users see a provider from its creation on, so its connection is tested at once. */
function testOf({ provider_id: id }: Members): Readonly<Record<string, Named>> {
  return { test: { task: 'provider.test', input: { provider_id: id } } }
}

function created(answer: Members, { test }: Members, frame: Frame, { test: reason }: Texts): View {
  const { provider_id: id, name: called } = answer as unknown as ProviderDocument
  return {
    title: called,
    main: html`<div class="notice" role="status">
        <span>${said(formWords(CREATE).done, { name: called, provider_id: id }, {})}</span>
      </div>
      <div class="heading">
        <h1>${name(called, '(no name)')}</h1>
        <a class="button" href="${linkTo('providers', id)}">Continue</a>
      </div>
      ${test === undefined ? notTested(reason) : testResult(test as Members, frame)}`,
  }
}
