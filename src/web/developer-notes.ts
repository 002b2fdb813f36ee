import type { DeveloperNotes } from '../ports/pages/parts.ts'
import type { View } from './layout.ts'
import { code, type Fragment, html, isolate, type Markup } from './markup.ts'

/** The folded part of a page that refuses a request: the reason and its explanation, as the log has them. It is always in English. */
export function developerNotes({ texts }: Pick<View, 'texts'>, notes: DeveloperNotes): Markup {
  const { error, reason, explanation, redirectUri } = notes
  return html`<details class="small muted after">
    <summary>${texts.show('forDevelopers')}</summary>
    <p lang="en">
      ${line('error', error)}${line('reason', reason)}${isolate(explanation)}
      ${redirectUri === undefined ? undefined : html`<br />redirect_uri: ${code(redirectUri)}`}
    </p>
  </details>`
}

function line(name: string, value: string | undefined): Fragment {
  return value === undefined ? undefined : html`<code>${name}=${value}</code><br />`
}
