import { taskWords } from '../../../texts/task-words.ts'
import { inOneLine } from '../../../base/localized-text.ts'
import type { ApiDocument } from '../../../admin/api/document.ts'
import type { ServerDocument } from '../../../admin/server.ts'
import { addressOf, INTROSPECT_PATH, JWKS_PATH } from '../../../protocol/uri/server-address.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import { membersOf } from '../../engine/fields.ts'
import { consentTo } from '../consent.ts'
import {
  authorizationAddress,
  environmentOf,
  INTROSPECT_COMMAND,
  INTROSPECT_RECIPE,
  requestCommand,
  verifyRecipe,
} from './recipes.ts'
import { linkTo } from '../../links.ts'
import { questionAbout } from '../access/question.ts'
import { concerningRules, rulesOf, type ListedRules } from '../access-rules/rules-of.ts'
import { claimOf } from '../groups/claim.ts'
import { actions, formOf, formsFor } from '../../engine/buttons.ts'
import { table } from '../../list.ts'
import { chip, copyButton, facts, name, section, snippet, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import type { Form, Frame, Members } from '../../engine/form.ts'
import { apiName, GRANTED, LEVELS } from '../../words.ts'

interface Answers {
  readonly api: ApiDocument
  readonly server: ServerDocument
  readonly rules: ListedRules
}

type Scope = ApiDocument['scopes'][number]

const apiIn = (answers: Members): ApiDocument => answers['api'] as ApiDocument

const CREDENTIALS: Form = {
  kind: 'change',
  task: 'api.create-credentials',
}

const FORMS: readonly Form[] = [
  {
    kind: 'edit',
    task: 'api.update',
    // The scopes have a page of their own. A rule for an exchange is said alone, because others stay.
    fields: membersOf('api.update', ['name', 'tokens', 'exchange'], ['scopes', 'step_up', 'texts']),
    filled: (answers) => ({ ...apiIn(answers), exchange: [] }),
  },
  CREDENTIALS,
  {
    kind: 'change',
    task: 'api.delete',
    leadsTo: () => '/console/apis',
  },
]

const SERVER = { task: 'server.show', input: () => ({}) }

export const API = screen<Answers>({
  path: '/console/apis/{resource}',
  section: 'apis',
  reads: { api: { task: 'api.show', input: () => ({}) }, server: SERVER, rules: concerningRules('resource') },
  filters: [],
  forms: FORMS,
  names: ({ api }) => ({ '': apiName(api) }),
  view({ api, server, rules }, frame) {
    const { resource, exchange } = api
    const others = formsFor(frame, '', { ...api }, false).filter(({ task }) => task !== CREDENTIALS.task)
    return {
      title: apiName(api),
      main: html`<div class="heading">
          <h1>${name(apiName(api), '(no name)')}</h1>
          ${actions(frame, others)}
        </div>
        <p class="sub">
          <span>${code(resource)}${copyButton(resource)}</span> <span>declared ${time(api.created_at, frame)}</span>
        </p>
        ${facts([
          ['Tokens', tokensOf(api, server)],
          ['Bound to a key', BINDINGS[api.tokens.binding]],
          ['Groups of users', claimOf(frame, api.groups, api.group_words)],
          ['The consent page', html`<a href="${linkTo('apis', resource)}/consent">How a person sees it</a>`],
          [
            'Takes tokens of',
            exchange.length === 0
              ? undefined
              : html`<ul>
                  ${exchange.map((rule) => html`<li>${code(rule.resource)} <span class="muted">with at most</span> ${code(rule.scope)}</li>`)}
                </ul>`,
          ],
        ])}
        ${section('Scopes', scopeTable(frame, api), frame.mayWrite ? html`<a href="${linkTo('apis', resource)}/scopes">${taskWords('api.update.scopes').label}</a>` : undefined)}
        ${rulesOf(frame, rules, 'resource', resource)} ${questionAbout(frame, { resource })}
        ${section('Credentials', credentials(frame, api))} ${section('How a client gets a token', request(frame, api))}
        ${section('How to verify its tokens', verification(api, server))}
        ${frame.mayWrite ? html`<section>${actions(frame, formsFor(frame, '', { ...api }, true))}</section>` : undefined}`,
    }
  },
})

/** The scopes alone, whose form is long. */
export const API_SCOPES = screen<Pick<Answers, 'api'>>({
  path: '/console/apis/{resource}/scopes',
  section: 'apis',
  reads: { api: { task: 'api.show', input: () => ({}) } },
  filters: [],
  forms: [
    {
      kind: 'edit',
      task: 'api.update',
      wording: 'api.update.scopes',
      fields: ['scopes'],
      filled: (answers) => ({ scopes: apiIn(answers).scopes }),
    },
  ],
  names: ({ api }) => ({ '': apiName(api) }),
  view: ({ api }, frame) => ({
    title: 'Scopes',
    main: html`<div class="heading">
        <h1>Scopes of ${name(apiName(api), '(no name)')}</h1>
        ${actions(frame, formsFor(frame, '', { ...api }, false))}
      </div>
      <p class="sub">
        <span><a href="${linkTo('apis', api.resource)}">The API</a></span>
      </p>
      ${scopeTable(frame, api)}`,
  }),
})

/** What a person is asked by a client that requests all scopes of the API. */
export const API_CONSENT = screen<Pick<Answers, 'api'>>({
  path: '/console/apis/{resource}/consent',
  section: 'apis',
  reads: { api: { task: 'api.show', input: () => ({}) } },
  filters: [],
  forms: [],
  names: () => ({}),
  view: () => ({ title: 'How a person sees it', main: html`<h1>How a person sees it</h1>` }),
  preview: ({ api }) =>
    consentTo(
      { client_name: 'An app', redirect_uris: [], document_url: null, trust_level: 'unverified' },
      { ageSeconds: 0, scopes: api.scopes.map((scope) => scope.name), apis: [api] },
    ),
})

const BINDINGS = {
  any: 'if the client sends a proof (DPoP)',
  dpop: 'always: the client sends a proof (DPoP)',
  bearer: 'never',
} as const

function tokensOf({ tokens }: ApiDocument, server: ServerDocument): Fragment {
  const { format, lifetime, algorithm, jwt_type: type } = tokens
  const duration = `${lifetime ?? server.access_token_lifetime} seconds`
  if (format === 'opaque') return `opaque, for ${duration}: the API asks the server about each`
  return `JWT (${type}), signed with ${algorithm ?? server.signing_algorithm}, for ${duration}`
}

function scopeTable(frame: Frame, { scopes }: ApiDocument): Markup {
  return table(
    { ...frame, forms: [] },
    {
      caption: 'Scopes, and what a person reads on the consent page',
      rows: scopes,
      empty: html`<p>The API has no scopes. A person reads that nothing limits what a client may do.</p>`,
      columns: [
        { heading: 'Scope', cell: (scope) => code(scope.name) },
        { heading: 'Person reads', isRest: true, cell: ({ sentence }) => name(inOneLine(sentence), '(nothing)') },
        { heading: 'Granted to', role: 'meta', cell: ({ granted_to: to }) => GRANTED[to] },
        { heading: 'Needs', role: 'meta', cell: ({ step_up: step }) => needs(step) },
      ],
    },
  )
}

function needs(step: Scope['step_up']): Fragment {
  if (step === null) return html`<span class="muted none">–</span>`
  const level = LEVELS[step.level]
  return step.max_age === null ? level : `${level}, at most ${step.max_age} s old`
}

function credentials(frame: Frame, { introspection_id: id }: ApiDocument): Fragment {
  return facts([
    [
      'To ask about tokens',
      html`<div class="heading">
        ${
          id === null
            ? html`<span class="muted">none: the API cannot introspect or exchange tokens</span>`
            : html`<span>${chip('Created', 'good')} ${code(id)}${copyButton(id)}</span>`
        }
        ${actions(frame, formOf(frame, CREDENTIALS.task))}
      </div>`,
    ],
  ])
}

/** What a client sends for a user, and one that acts for itself or for an organization. An API without scopes limits neither. */
function request({ issuer }: Frame, { resource, scopes }: ApiDocument): Markup {
  const ofUsers = scopes.find(({ granted_to: to }) => to !== 'approved-clients')
  // A scope with a requirement needs a user, who authenticates.
  const ofMachines = scopes.find(
    ({ granted_to: to, step_up: step }) => step === null && (to === 'users-and-machines' || to === 'approved-clients'),
  )
  const naming = (scope: Scope | undefined) => ({ resource, ...(scope === undefined ? {} : { scope: scope.name }) })
  const isOpen = scopes.length === 0
  return html`<p class="hint">
      A client names the API by the parameter resource, or by scopes that only this API has. Without both, the audience
      (aud) of its token is the issuer, and the API refuses it. A client that acts for an organization names it by
      org_id, and is installed there.
    </p>
    ${
      isOpen || ofUsers !== undefined
        ? html`<p class="hint">
              For a user, the client sends the browser to this address, and redeems the code that it gets back:
            </p>
            ${snippet('The authorization address', authorizationAddress(issuer, naming(ofUsers)))}`
        : undefined
    }
    ${
      isOpen || ofMachines !== undefined
        ? snippet('A token request without a user', requestCommand(issuer, '…', naming(ofMachines)))
        : html`<p class="hint">Without a user, no client gets a token: each scope of the API needs one.</p>`
    }`
}

/** Both ways. An opaque token has only one. */
function verification(api: ApiDocument, { issuer, signing_algorithm: usual }: ServerDocument): Markup {
  const { tokens, resource } = api
  const copied = (text: string): Markup => html`${code(text)}${copyButton(text)}`
  const isLocal = tokens.format === 'jwt'
  const environment = environmentOf(api, issuer)
  return html`${facts([
      ['Issuer (iss)', copied(issuer)],
      ['Audience (aud)', copied(resource)],
      ['Keys (jwks_uri)', isLocal ? copied(addressOf(issuer, JWKS_PATH)) : undefined],
      ['Introspection', copied(addressOf(issuer, INTROSPECT_PATH))],
    ])}
    <p class="hint">
      The API accepts a token only if it has the scope that the request needs. Set the environment first:
    </p>
    ${snippet('Environment', environment)}
    ${
      isLocal
        ? html`<p class="hint">With the keys, in Node.js. A token that was revoked counts until it expires:</p>
            ${snippet('Verify a token with the keys', verifyRecipe(tokens, tokens.algorithm ?? usual))}`
        : undefined
    }
    <p class="hint">
      By asking the server, with the credentials of the API. A token that was revoked is refused at once:
    </p>
    ${snippet('Ask the server about a token', INTROSPECT_RECIPE)}
    ${snippet('The same at a terminal', INTROSPECT_COMMAND)}
    <p class="hint">
      docs/resource-servers.md has whole programs for Node.js, nginx, Apache, Spring, Go, Python and .NET.
    </p>`
}
