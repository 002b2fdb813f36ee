import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { DomainDocument } from '../../admin/domain.ts'
import { textsByLanguage } from '../../base/localized-text.ts'
import { clientNames } from '../../protocol/client/identity.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { actions, formsFor } from '../engine/buttons.ts'
import { facts, name, scopes, section, time } from '../parts.ts'
import type { Frame } from '../engine/form.ts'
import { claimOf } from './groups/claim.ts'
import { accessOf, type Installed } from './client-access.ts'
import { APPROVE, CREDENTIAL_FORMS, SETTING_FORMS } from './client-forms.ts'

/** What a client is set to, and the forms that change it. */

interface Known {
  readonly client: ClientDocument
  readonly apis: { readonly apis: readonly ApiDocument[] }
  readonly domains: { readonly domains: readonly DomainDocument[] }
  readonly installations: Installed
}

/** The most important settings, beside what happens with the client. */
export function settingsInShort(client: ClientDocument): Markup {
  return facts([
    ['Sends people to', list(client.redirect_uris)],
    ['Asks for', asksFor(client)],
    ['Approved', scopes(client.approved_scope)],
    ['Authenticates', authentication(client)],
    ['Gets tokens by', client.grant_types.map((type) => GRANT_TYPES[type] ?? type).join(', ')],
  ])
}

/** All settings, with the forms that change them. */
export function settingsOf(frame: Frame, { client, apis, domains, installations }: Known): Markup {
  const fitting = formsFor(frame, client.client_id, client, false)
  const only = (forms: readonly { readonly task: string }[]) =>
    actions(
      frame,
      fitting.filter(({ task }) => forms.some((form) => form.task === task)),
    )
  const credentials = only(CREDENTIAL_FORMS)
  return html`${section('Settings', allFacts(frame, client, domains.domains), only([...SETTING_FORMS, APPROVE]))}
  ${credentials === undefined ? undefined : section('Secret and registration', credentials)}
  ${accessOf(frame, client, installations, apis.apis)}`
}

function allFacts(frame: Frame, client: ClientDocument, rules: readonly DomainDocument[]): Markup {
  return facts([
    [
      'Metadata document',
      client.document_url === null
        ? undefined
        : html`${code(client.document_url)}
            <span class="muted">fetched</span> ${time(client.document_fetched_at, frame)}`,
    ],
    ['Domain', domainRules(client, rules)],
    ['Redirect URIs', list(client.redirect_uris)],
    [
      'Logout URIs',
      client.post_logout_redirect_uris === undefined ? undefined : list(client.post_logout_redirect_uris),
    ],
    ['Scopes asked for', asksFor(client)],
    ['Scopes approved', scopes(client.approved_scope)],
    ['Authenticates', authentication(client)],
    ['Rules', rulesOf(client)],
    ['Groups of users', claimOf(frame, client.rules.groups ?? 'off', client.rules.group_words ?? [])],
    ['Grant types', client.grant_types.join(', ')],
    ['Names by language', namesByLanguage(client)],
    ['Website', client.client_uri === undefined ? undefined : code(client.client_uri)],
    ['Contacts', client.contacts === undefined ? undefined : list(client.contacts)],
    ['Disabled', client.disabled_at === null ? undefined : time(client.disabled_at, frame)],
    [
      'Tokens revoked',
      client.not_before === null ? undefined : html`all from before ${time(client.not_before, frame)}`,
    ],
  ])
}

function asksFor({ scope }: ClientDocument): Fragment {
  return scope === undefined ? html`<span class="muted">any that it may have</span>` : scopes(scope)
}

function namesByLanguage(client: ClientDocument): Fragment {
  const { default: _, ...names } = textsByLanguage(clientNames(client) ?? {})
  const all = Object.entries(names)
  if (all.length === 0) return undefined
  return html`<ul>
    ${all.map(([language, text]) => html`<li>${name(text, '')} <span class="muted">${language}</span></li>`)}
  </ul>`
}

/** The rules for domains that apply to the client. */
export function domainRules(
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
export function originOf({ ['source']: origin }: ClientDocument): ClientDocument['source'] {
  return origin
}

/** What an administrator decided about the client. */
function rulesOf(client: ClientDocument): Fragment {
  if (originOf(client) !== 'operator') return undefined
  const { group_words: _, groups: __, ...rules } = client.rules
  return Object.entries(rules)
    .map(([rule, value]) => `${rule} ${value}`)
    .join(', ')
}

function authentication({ token_endpoint_auth_method: method }: ClientDocument): string {
  return AUTHENTICATION[method] ?? method
}

const AUTHENTICATION: Readonly<Record<string, string>> = {
  none: 'not at all: a public client, bound by PKCE',
  client_secret_basic: 'with a secret, in the header',
  client_secret_post: 'with a secret, in the form',
  private_key_jwt: 'with a key of its own',
}

/** The grant types in words; others have their names. */
const GRANT_TYPES: Readonly<Record<string, string>> = {
  authorization_code: 'code',
  refresh_token: 'refresh token',
  client_credentials: 'its own credentials',
}

function list(texts: readonly string[]): Fragment {
  if (texts.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${texts.map((text) => html`<li>${code(text)}</li>`)}
  </ul>`
}
