import type { ForgotDonePage, ForgotPage } from '../ports/pages/pages.ts'
import { emailField, linkButton, submitButton } from './form-parts.ts'
import { layout, type View } from './layout.ts'
import { html, isolate, type Markup } from './markup.ts'

/** The form that mails a link to the user of an address. */
export function forgotPage(view: View, { action, backUri, email, problem }: ForgotPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'forgotHeading',
    hasProblem: problem !== undefined,
    main: html`<h1>${texts.show('forgotHeading')}</h1>
      <p class="lead muted">${texts.show('forgotLead')}</p>
      <form method="post" action="${action}" novalidate>
        ${emailField(texts.show('email'), email, problem === undefined ? undefined : texts.show('emailMissing'))}
        ${submitButton(texts.show('forgotSend'), 'main')}
      </form>
      <p class="small after"><a class="inline" href="${backUri}">${texts.show('backToSignIn')}</a></p>`,
  })
}

export function forgotDonePage(view: View, { provider, isOff, backUri }: ForgotDonePage): Markup {
  const { texts } = view
  const title = provider === undefined ? 'forgotDoneHeading' : 'forgotHeading'
  const mailed = html`<p class="lead">${texts.show('forgotDone')}</p>
    <p class="after">${texts.show('forgotNothing')}</p>`
  return layout(view, {
    title,
    main: html`<h1>${texts.show(title)}</h1>
      ${provider === undefined ? mailed : html`<p class="lead">${texts.show(isOff ? 'providerOff' : 'forgotAtProvider', { provider: isolate(provider) })}</p>`}
      ${linkButton(backUri, texts.show('backToSignIn'))}`,
  })
}
