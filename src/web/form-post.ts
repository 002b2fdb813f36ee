import type { FormPostPage } from '../ports/pages/pages.ts'
import { submitButton } from './form-parts.ts'
import { layout, type View } from './layout.ts'
import { hiddenFields, href, html, type Markup } from './markup.ts'

/** The page that posts the authorization response, by a script or the button. OAuth 2.0 Form Post Response Mode §2. */
export function formPostPage(view: View, { action, fields }: FormPostPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'formPostTitle',
    main: html`<h1>${texts.show('formPostTitle')}</h1>
      <p class="lead">${texts.show('formPostHint')}</p>
      <form method="post" action="${href(action)}">
        ${hiddenFields(fields)} ${submitButton(texts.show('continue'), 'main')}
      </form>`,
  })
}
