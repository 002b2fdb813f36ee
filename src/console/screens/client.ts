import { inOneLine, textsByLanguage } from '../../base/localized-text.ts'
import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { DomainDocument } from '../../admin/domain.ts'
import type { GrantDocument } from '../../admin/grant.ts'
import { clientNames, listedNameOf } from '../../protocol/client/identity.ts'
import { code, html, type Fragment } from '../../web/markup.ts'
import { EVENTS_SHOWN } from './audit.ts'
import { feed, type ListedEvents } from '../feed.ts'
import { accessOf, installationsOf, type Installed } from './client-access.ts'
import { CLIENT_FORMS, registered, SOURCES, trust } from './clients.ts'
import { MANAGING_FORMS } from './client-forms.ts'
import { grantColumns, REVOKE_GRANT } from './grants.ts'
import { linkTo, listAddress } from '../links.ts'
import { actions, formsFor } from '../engine/buttons.ts'
import { table } from '../list.ts'
import { facts, id, name, scopes, section, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, Frame, Members, Texts } from '../engine/form.ts'

interface Answers {
  readonly client: ClientDocument
  readonly domains: { readonly domains: readonly DomainDocument[] }
  readonly apis: { readonly apis: readonly ApiDocument[] }
  readonly installations: Installed
  readonly grants: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
  readonly audit: ListedEvents
}

const GRANTS_SHOWN = 20
const INSTALLATIONS_SHOWN = 20

const FORMS: readonly Form[] = [
  ...CLIENT_FORMS,
  {
    kind: 'edit',
    task: 'client.approve-scopes',
    fields: ['scope'],
    filled: (answers) => ({ scope: clientOf(answers).approved_scope }),
    choices: (answers) => ({ scope: approvable(answers) }),
  },
  ...MANAGING_FORMS,
  { ...REVOKE_GRANT, rows: { member: 'grant_id' } },
]

function clientOf(answers: Members): ClientDocument {
  return answers['client'] as ClientDocument
}

/** The declared scopes that only approved clients may have, and those that the client has although no API declares them. */
function approvable(answers: Members): readonly (readonly [value: string, remark: string])[] {
  const { apis } = answers['apis'] as Answers['apis']
  const declared = apis.flatMap(({ scopes: all }) =>
    all.flatMap(({ name: scope, sentence, granted_to: to }) =>
      to === 'approved-clients' ? [[scope, inOneLine(sentence)] as const] : [],
    ),
  )
  const names = new Set(declared.map(([scope]) => scope))
  const others = clientOf(answers)
    .approved_scope.split(' ')
    .filter((scope) => scope !== '' && !names.has(scope))
  const all = [...declared, ...others.map((scope) => [scope, 'declared by no API, or for all clients'] as const)]
  return all.length === 0 ? [['', 'No API declares scopes that need an approval.']] : [...new Map(all)]
}

export const CLIENT = screen<Answers>({
  path: '/console/clients/{client_id}',
  section: 'clients',
  reads: {
    client: { task: 'client.show', input: () => ({}) },
    apis: { task: 'api.list', input: () => ({}) },
    installations: { task: 'client.list-installations', input: () => ({ limit: INSTALLATIONS_SHOWN }) },
    domains: { task: 'domain.list', input: () => ({ limit: 1000 }) },
    grants: {
      task: 'grant.list',
      input: ({ parameters }) => ({ client_id: parameters['client_id'], limit: GRANTS_SHOWN }),
    },
    audit: {
      task: 'audit.list',
      input: ({ parameters }) => ({ client_id: parameters['client_id'], limit: EVENTS_SHOWN }),
    },
  },
  filters: [],
  forms: FORMS,
  names: ({ client, grants }) => ({ ...grants.names, '': listedNameOf(client) ?? client.client_id }),
  view({ client, domains, apis, installations, grants, audit }, frame) {
    const final = formsFor(frame, client.client_id, client, true)
    const fitting = formsFor(frame, client.client_id, client, false)
    const managing = fitting.filter((form) => MANAGING_FORMS.includes(form))
    return {
      title: listedNameOf(client) ?? client.client_id,
      main: html`<div class="heading">
          <h1>${name(listedNameOf(client), '(no name)')}</h1>
          ${trust(client)}
          ${actions(
            frame,
            fitting.filter((form) => !managing.includes(form)),
          )}
        </div>
        <p class="sub">
          ${id(client.client_id)} <span>${SOURCES[originOf(client)]} ${registered(client, frame)}</span>
          <span>last used ${time(client.last_used_at ?? client.used_at, frame)}</span>
        </p>
        ${facts([
          [
            'Metadata document',
            client.document_url === null
              ? undefined
              : html`${code(client.document_url)}
                  <span class="muted">fetched</span> ${time(client.document_fetched_at, frame)}`,
          ],
          ['Domain', domainRules(client, domains.domains)],
          ['Redirect URIs', list(client.redirect_uris)],
          [
            'Logout URIs',
            client.post_logout_redirect_uris === undefined ? undefined : list(client.post_logout_redirect_uris),
          ],
          [
            'Scopes asked for',
            client.scope === undefined ? html`<span class="muted">any that it may have</span>` : scopes(client.scope),
          ],
          ['Scopes approved', scopes(client.approved_scope)],
          ['Authenticates', AUTHENTICATION[client.token_endpoint_auth_method] ?? client.token_endpoint_auth_method],
          ['Rules', rulesOf(client)],
          ['Grant types', client.grant_types.join(', ')],
          ['The consent page', html`<a href="${linkTo('clients', client.client_id)}/consent">How a person sees it</a>`],
          ['Names by language', namesByLanguage(client)],
          ['Website', client.client_uri === undefined ? undefined : code(client.client_uri)],
          ['Contacts', client.contacts === undefined ? undefined : list(client.contacts)],
          ['Disabled', client.disabled_at === null ? undefined : time(client.disabled_at, frame)],
          [
            'Tokens revoked',
            client.not_before === null ? undefined : html`all from before ${time(client.not_before, frame)}`,
          ],
        ])}
        ${managing.length === 0 ? undefined : html`<div class="bar">${actions(frame, managing)}</div>`}
        ${accessOf(frame, client, installations, apis.apis)} ${installationsOf(frame, client, installations)}
        ${section('Grants', grantTable(frame, grants), grants.next === null ? undefined : html`<a href="${listAddress('grants', 'client_id', client.client_id)}">All</a>`)}
        ${section('Events', feed(frame, audit, { own: client.client_id, none: 'Nothing has happened with this client lately.' }), html`<a href="${listAddress('audit', 'client_id', client.client_id)}">All</a>`)}
        ${final.length === 0 ? undefined : html`<div class="danger-zone">${actions(frame, final)}</div>`}`,
    }
  },
})

function namesByLanguage(client: ClientDocument): Fragment {
  const { default: _, ...names } = textsByLanguage(clientNames(client) ?? {})
  const all = Object.entries(names)
  if (all.length === 0) return undefined
  return html`<ul>
    ${all.map(([language, text]) => html`<li>${name(text, '')} <span class="muted">${language}</span></li>`)}
  </ul>`
}

/** The rules for domains that apply to the client. */
function domainRules(
  { document_url: document, redirect_uris: uris, post_logout_redirect_uris: others = [] }: ClientDocument,
  rules: readonly DomainDocument[],
): Fragment {
  const addresses = [...uris, ...others, ...(document === null ? [] : [document])]
  const applying = rules.filter(({ pattern }) =>
    addresses.some((uri) => {
      const { hostname } = new URL(uri)
      return (
        uri === pattern || hostname === pattern || (pattern.startsWith('*.') && hostname.endsWith(pattern.slice(1)))
      )
    }),
  )
  if (applying.length === 0) return undefined
  return html`<ul>
    ${applying.map(({ pattern, verdict, note }) => html`<li>${verdict} by <a href="/console/domains">${code(pattern)}</a>${note === null ? undefined : html` – <bdi>${note}</bdi>`}</li>`)}
  </ul>`
}

/** How a client came to the server; only shown. */
function originOf({ ['source']: origin }: ClientDocument): ClientDocument['source'] {
  return origin
}

/** What an administrator decided about the client. */
function rulesOf(client: ClientDocument): Fragment {
  if (originOf(client) !== 'operator') return undefined
  return Object.entries(client.rules)
    .map(([rule, value]) => `${rule} ${value}`)
    .join(', ')
}

const AUTHENTICATION: Readonly<Record<string, string>> = {
  none: 'not at all: a public client, bound by PKCE',
  client_secret_basic: 'with a secret, in the header',
  client_secret_post: 'with a secret, in the form',
  private_key_jwt: 'with a key of its own',
}

function list(texts: readonly string[]): Fragment {
  if (texts.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${texts.map((text) => html`<li>${code(text)}</li>`)}
  </ul>`
}

function grantTable(frame: Frame, { grants, names }: Answers['grants']): Fragment {
  return table(frame, {
    caption: 'Grants of the client, newest first',
    rows: grants,
    empty: html`<p>No user has allowed this client anything.</p>`,
    columns: grantColumns(frame, names, 'client'),
  })
}
