import type { ForgotDonePage, ForgotPage } from '../ports/pages/pages.ts'
import { emailField, linkButton, submitButton } from './form-parts.ts'
import { layout } from './layout.ts'
import type { View } from './layout.ts'
import { html, isolate } from './markup.ts'
import type { Markup } from './markup.ts'

/** The form that mails a link to the user of an address. */
export function forgotPage(view: View, { action, backUri, email, problem }: ForgotPage): Markup {
  const { texts } = view
  return layout(view, {
    title: problem === undefined ? texts.forgotHeading : texts.titleWithError(texts.forgotHeading),
    main: html`<h1>${texts.forgotHeading}</h1>
      <p class="lead muted">${texts.forgotLead}</p>
      <form method="post" action="${action}" novalidate>
        ${emailField(texts.email, email, problem === undefined ? undefined : texts.emailMissing)}
        ${submitButton(texts.forgotSend, 'main')}
      </form>
      <p class="small after"><a class="inline" href="${backUri}">${texts.backToSignIn}</a></p>`,
  })
}

export function forgotDonePage(view: View, { provider, isOff, backUri }: ForgotDonePage): Markup {
  const { texts } = view
  const heading = provider === undefined ? texts.forgotDoneHeading : texts.forgotHeading
  const mailed = html`<p class="lead">${texts.forgotDone}</p>
    <p class="after">${texts.forgotNothing}</p>`
  const atProvider = isOff ? texts.providerOff : texts.forgotAtProvider
  return layout(view, {
    title: heading,
    main: html`<h1>${heading}</h1>
      ${provider === undefined ? mailed : html`<p class="lead">${atProvider(isolate(provider))}</p>`}
      ${linkButton(backUri, texts.backToSignIn)}`,
  })
}
