import { createHash } from 'node:crypto'
import type { FormPostPage } from '../ports/pages.ts'
import { submitButton } from './form-parts.ts'
import { layout } from './layout.ts'
import type { View } from './layout.ts'
import { hiddenFields, href, html, scriptElement } from './markup.ts'
import type { Markup } from './markup.ts'

/** The only script of all pages. It contains nothing of the request. */
const SCRIPT = 'document.forms[0].submit()'

/** The value for `script-src` of this page (CSP Level 3 §2.3.1). */
export const FORM_POST_SCRIPT_SOURCE = `'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`

/** The page that posts the authorization response. OAuth 2.0 Form Post Response Mode §2. */
export function formPostPage(view: View, { action, fields }: FormPostPage): Markup {
  const { texts } = view
  return layout(view, {
    title: texts.formPostTitle,
    main: html`<h1>${texts.formPostTitle}</h1>
      <p class="lead">${texts.formPostHint}</p>
      <form method="post" action="${href(action)}">
        ${hiddenFields(fields)} ${submitButton(texts.continue, 'main')}
      </form>
      ${scriptElement(SCRIPT)}`,
  })
}
