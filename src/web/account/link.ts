import type { LinkMethodsPage, LinkPage, LinkUsedPage } from '../../ports/account-pages.ts'
import { linkButton, submitButton } from '../form-parts.ts'
import { layout } from '../layout.ts'
import type { View } from '../layout.ts'
import { providerIcon, tick } from '../icons.ts'
import { hiddenFields, html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountName } from './frame.ts'
import { passwordFields } from './password.ts'

/** The identities that the user of a link may keep. None is chosen beforehand, because one may be of a thief. */
export function linkMethodsPage(view: View, { action, hidden, account, methods }: LinkMethodsPage): Markup {
  const texts = view.texts.account
  return layout(view, {
    title: texts.linkMethodsHeading,
    main: html`<h1>${texts.linkMethodsHeading}</h1>
      <p class="lead">${texts.linkMethods(accountName(account))}</p>
      <form method="post" action="${action}" novalidate>
        ${hiddenFields(hidden)}
        <ul class="scopes" role="list">
          ${methods.map(
            ({ key, isOfApplication, name, email, linkedSecondsAgo, usedSecondsAgo }) =>
              html`<li>
                <label class="choice">
                  <input type="checkbox" name="keep" value="${key}" />
                  <span class="box" aria-hidden="true">${tick}</span>
                  <span>
                    <span class="line"
                      >${isOfApplication ? texts.application : isolate(name)}${email === undefined ? undefined : html` · ${isolate(email)}`}</span
                    >
                    <span class="line small muted"
                      >${texts.identityUsed(ago(view, linkedSecondsAgo), ago(view, usedSecondsAgo))}</span
                    >
                  </span>
                </label>
              </li> `,
          )}
        </ul>
        ${submitButton(texts.goOn, 'main')}
      </form>`,
  })
}

/** The form of a link that an operator handed over. */
export function linkPage(view: View, page: LinkPage): Markup {
  const { branding } = view
  const texts = view.texts.account
  const isInvitation = page.purpose === 'invitation'
  const title = isInvitation ? texts.invitationTitle : texts.resetHeading
  return layout(view, {
    title: page.problem === undefined ? title : view.texts.titleWithError(title),
    main: html`<h1>${isInvitation ? texts.invitationHeading(isolate(branding.name)) : texts.resetHeading}</h1>
      ${isInvitation ? undefined : html`<p class="lead">${texts.resetConsequence}</p>`}
      ${page.providers.map((one) => acceptForm(view, page, one))} ${linkPassword(view, page)}`,
  })
}

/** The form that adds an account at a provider to the link's user. */
function acceptForm({ texts }: View, { action, hidden }: LinkPage, provider: LinkPage['providers'][number]): Markup {
  return html`<form method="post" action="${action}">
    ${hiddenFields({ ...hidden, provider: provider.id })}
    ${submitButton(html`${providerIcon(provider)}<span>${texts.continueWith(isolate(provider.name))}</span>`, 'plain')}
  </form>`
}

function linkPassword(view: View, page: LinkPage): Fragment {
  const texts = view.texts.account
  const account = accountName(page.account)
  if (page.username === undefined) return html`<p class="lead">${texts.linkWithoutPassword(account)}</p>`
  return html`${page.providers.length === 0 ? undefined : html`<p class="or small muted">${view.texts.or}</p>`}
    <p class="lead">${texts.linkFor(account)}</p>
    <form method="post" action="${page.action}" novalidate>
      ${hiddenFields(page.hidden)} ${passwordFields(view, page.username, page)}
      ${submitButton(texts.setPassword, 'main')}
    </form>`
}

export function linkUsedPage(view: View, { accountUri }: LinkUsedPage): Markup {
  const texts = view.texts.account
  return layout(view, {
    title: texts.linkUsedHeading,
    main: html`<h1>${texts.linkUsedHeading}</h1>
      <p class="lead">${texts.linkUsed}</p>
      ${linkButton(accountUri, texts.toAccount)}`,
  })
}
