import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { DomainDocument } from '../../admin/domain.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { formOf } from '../engine/buttons.ts'
import type { Frame } from '../engine/form.ts'
import { linkTo } from '../links.ts'
import { APPROVE } from './client-forms.ts'
import { domainRules, originOf } from './client-settings.ts'
import { destinations } from './clients.ts'

/** What about a client waits for a person, and what happens until then. */

interface Known {
  readonly client: ClientDocument
  readonly apis: { readonly apis: readonly ApiDocument[] }
  readonly domains: { readonly domains: readonly DomainDocument[] }
}

/** Of a scope on a button. */
const SHORT = 24

/** undefined: nothing does. */
export function needsDecision({ client, apis, domains }: Known, frame: Frame): Markup | undefined {
  if (client.disabled_at !== null) return undefined
  const waiting = waitingScopes(client, apis.apis)
  const scopes = waiting.map((scope, index) => html`${index === 0 ? '' : ', '}${code(scope)}`)
  const waits = waiting.length === 1 ? 'needs your approval' : 'need your approval'
  const until = 'Users are not asked for that before.'
  const actions = html`${waiting.length === 0 || formOf(frame, APPROVE.task).length === 0 ? undefined : approval(client, waiting)}
    <a class="button" href="${linkTo('clients', client.client_id)}/consent">See what a user sees</a>`
  if (client.trust_level === 'blocked')
    return plate('bad', 'A rule blocks it', domainRules(client, domains.domains), allRules(frame))
  if (client.trust_level === 'unverified' && originOf(client) !== 'operator') {
    const asked = waiting.length === 0 ? undefined : html` It asks for ${scopes}, which ${waits}. ${until}`
    return plate('caution', 'Anyone can register under this name', html`${leadsTo(client)}${asked}`, actions)
  }
  if (waiting.length === 0) return undefined
  return plate('caution', 'It waits for your approval', html`${scopes} ${waits}. ${until}`, actions)
}

function plate(tone: 'bad' | 'caution', title: string, says: Fragment, actions: Fragment): Markup {
  return html`<section class="answer ${tone}" aria-labelledby="decision">
    <h2 id="decision">${title}</h2>
    <div>${says}</div>
    <div class="actions">${actions}</div>
  </section>`
}

/** Scopes that it asks for, and that only approved clients get. */
function waitingScopes({ scope = '', approved_scope: approved }: ClientDocument, apis: readonly ApiDocument[]) {
  const has = approved.split(' ')
  const guarded = new Set(
    apis.flatMap(({ scopes }) =>
      scopes.flatMap(({ name, granted_to: to }) => (to === 'approved-clients' ? [name] : [])),
    ),
  )
  return scope.split(' ').filter((one) => guarded.has(one) && !has.includes(one))
}

function leadsTo(client: ClientDocument): Fragment {
  const places = destinations(client)
  if (places.length === 0) return 'It sends people nowhere.'
  return html`It sends people to
  ${places.map((place, index) => html`${index === 0 ? '' : index === places.length - 1 ? ' and to ' : ', '}<bdi>${place}</bdi>`)}.`
}

function approval({ client_id: client }: ClientDocument, waiting: readonly string[]): Markup {
  const [only, ...others] = waiting
  const what = only === undefined || others.length > 0 || only.length > SHORT ? 'scopes' : only
  return html`<a class="button" href="${linkTo('clients', client)}?ask=${APPROVE.task}">Approve ${what}…</a>`
}

function allRules({ mayOpen }: Frame): Fragment {
  return mayOpen('/console/domains') ? html`<a class="button" href="/console/domains">See the rules</a>` : undefined
}
