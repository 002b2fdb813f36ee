import { html, type Fragment, type Markup } from '../../../web/markup.ts'
import { hidden } from '../../engine/buttons.ts'
import type { Frame } from '../../engine/form.ts'
import { section } from '../../parts.ts'

const PATH = '/console/access'

/** What a question about access names. */
export const ASKED = ['user_id', 'client_id', 'resource', 'scope'] as const
export type AskedMember = (typeof ASKED)[number]

const LABELS: Readonly<Record<AskedMember, string>> = {
  user_id: 'User',
  client_id: 'Client',
  resource: 'API',
  scope: 'Scopes',
}
const HINTS: Readonly<Record<AskedMember, string>> = {
  user_id: 'id or address',
  client_id: 'id or name',
  resource: 'identifier; empty: all',
  scope: 'empty: all',
}

type Known = Readonly<Partial<Record<AskedMember, string>>>

interface Question {
  readonly asked: readonly AskedMember[]
  /** Members that the page knows, which are not asked for. */
  readonly known?: Known
  /** What the fields have. */
  readonly values?: Readonly<Record<string, string>>
  readonly lead?: string
}

/** A form that asks what a client can get for a user. */
export function question(to: string, { asked, known = {}, values = {}, lead }: Question): Markup {
  return html`<form method="get" action="${to}" class="ask">
    ${lead === undefined ? undefined : html`<p class="hint">${lead}</p>`}
    ${Object.entries(known).map(([name, value]) => hidden(name, value))}
    ${asked.map(
      (name) =>
        html`<label class="field"
          ><span>${LABELS[name]} <small>${HINTS[name]}</small></span
          ><input name="${name}" value="${values[name]}" autocomplete="off" spellcheck="false" ${isNeeded(name)}
        /></label>`,
    )}
    <div class="actions"><button class="button">Explain</button></div>
  </form>`
}

function isNeeded(name: AskedMember): Fragment {
  return name === 'user_id' || name === 'client_id' ? html` required` : undefined
}

/** The question on the page of a user, a client or an API, which it knows. undefined: the person may not ask it. */
export function questionAbout({ mayOpen }: Pick<Frame, 'mayOpen'>, known: Known): Markup | undefined {
  if (!mayOpen(PATH)) return undefined
  const asked = (['user_id', 'client_id'] as const).filter((name) => known[name] === undefined)
  return section('Why can a user not …', question(PATH, { asked, known }))
}
