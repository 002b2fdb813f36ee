import { inputFields } from '../../../admin/input-fields.ts'
import { templateMembers, type ProviderDocument } from '../../../admin/provider/settings.ts'
import type { ServerDocument } from '../../../admin/server.ts'
import { findTask } from '../../../admin/tasks.ts'
import {
  parseProviderId,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderTemplateName,
} from '../../../protocol/sign-in/provider.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { fieldsOf, membersOf } from '../../fields.ts'
import { linkTo } from '../../links.ts'
import { chip, copyButton, hidden, name, nothing, section, table, time } from '../../parts.ts'
import { screen, type Members, type ScreenForm, type Texts } from '../../screen.ts'

interface Answers {
  readonly list: { readonly providers: readonly ProviderDocument[] }
  readonly server: ServerDocument
}

/** What the redirect URI follows from, and what presets the settings: chosen before the form, because the provider wants the URI first. */
const CHOSEN = ['template', 'provider_id']
const FIRST = ['issuer', 'name', 'client_id', 'client_secret', 'domains', 'sign_up', 'link']

const CREATE: ScreenForm = {
  task: 'provider.create',
  label: 'Connect a provider',
  done: 'Created',
  fields: membersOf('provider.create', [...CHOSEN, ...FIRST]),
  fixed: CHOSEN,
  atFirst: FIRST,
  isRecent: true,
  obstacle: idObstacle,
  intro: registerFirst,
  preset: ({ template = '' }) => (isTemplate(template) ? templateMembers(template) : {}),
  leadsTo: ({ provider_id: id }) => linkTo('providers', String(id)),
  offers: 'provider.test',
}

export const PROVIDERS = screen<Answers>({
  path: '/console/providers',
  section: 'providers',
  reads: {
    list: { task: 'provider.list', input: () => ({}) },
    server: { task: 'server.show', input: () => ({}) },
  },
  filters: [],
  keeps: CHOSEN,
  forms: [CREATE],
  names: () => ({}),
  view: ({ list }, frame) => ({
    title: 'Providers',
    main: html`<div class="heading">
        <h1>Providers</h1>
        ${frame.mayWrite ? html`<a class="button" href="#connect">Connect a provider</a>` : undefined}
      </div>
      ${table(frame, {
        caption: 'Providers at which users sign in',
        rows: list.providers,
        empty: nothing(
          frame,
          'Users sign in with their accounts at Google, Microsoft Entra, Okta, Keycloak, GitHub or any other OpenID provider after you have connected it.',
          'grantor provider create <template> --id <id> --name <name> --client-id <id> --client-secret -',
        ),
        columns: [
          {
            heading: 'Name',
            cell: (one) => html`<a href="${linkTo('providers', one.provider_id)}">${name(one.name, '(no name)')}</a>`,
          },
          { heading: 'Id', cell: ({ provider_id: id }) => code(id) },
          { heading: 'Issuer', cell: ({ issuer }) => code(issuer) },
          { heading: 'State', cell: providerState },
          {
            heading: 'Domains',
            isWide: true,
            cell: ({ domains }) => (domains.length === 0 ? html`<span class="muted">none</span>` : domains.join(', ')),
          },
          { heading: 'Created', cell: ({ created_at: at }) => time(at, frame) },
        ],
      })}
      ${frame.mayWrite ? html`<div id="connect">${section('Connect a provider', choice(frame.place.query))}</div>` : undefined}`,
  }),
})

export function providerState({ disabled_at: disabled, usable, has_secret: hasSecret }: ProviderDocument): Markup {
  if (disabled !== null) return chip('Disabled', 'bad')
  if (!hasSecret) return chip('Without secret', 'bad')
  return usable ? chip('Enabled', 'good') : chip('Not used', 'caution')
}

/** The first of two steps, without a change: its page has the redirect URI. */
function choice(query: Texts): Fragment {
  const task = findTask(CREATE.task)
  const fields = task === undefined ? [] : inputFields(task, CHOSEN)
  const filling = { form: {}, fields, choices: {}, values: query, errors: {}, seen: undefined, isAside: true as const }
  return html`<form method="get" action="/console/providers" class="ask">
    ${hidden('ask', CREATE.task)} ${fieldsOf(filling)}
    <div class="actions"><button class="button" type="submit">Go on</button></div>
  </form>`
}

const OTHER_ID = html`<a href="/console/providers#connect">Choose another id</a>`

function idObstacle(answers: Members, { provider_id: text = '' }: Texts): Markup | undefined {
  const { list } = answers as unknown as Answers
  const id = parseProviderId(text)
  if (id === undefined)
    return html`The id of a provider has up to 31 lower-case letters, digits and hyphens, and begins with a letter.
    ${OTHER_ID}`
  if (list.providers.some(({ provider_id: known }) => known === id))
    return html`There is already a provider ${code(id)}. ${OTHER_ID}`
  return undefined
}

function isTemplate(text: string): text is ProviderTemplateName {
  return Object.hasOwn(PROVIDER_TEMPLATES, text)
}

/** What the person does at the provider before the form can be filled in. */
function registerFirst(answers: Members, values: Texts): Markup | undefined {
  const { server } = answers as unknown as Answers
  const { template = '', provider_id: text = '' } = values
  const id = parseProviderId(text)
  if (id === undefined) return undefined
  const uri = providerRedirectUri(server.issuer, id)
  return html`<div class="step">
    <p><strong>First</strong> register an application at the provider, with this redirect URI:</p>
    <p class="address"><code>${uri}</code> ${copyButton(uri)}</p>
    <p>
      <strong>Then</strong> fill in what the provider says of the application. The id here is ${code(id)}, and the
      settings are those for ${code(template)} at first. ${OTHER_ID}
    </p>
  </div>`
}
