import type { LinkPage, LinkUsedPage, OwnMethod, PasswordProblem, SecurityPage } from '../ports/account-pages.ts'
import { accountForm, accountLayout, accountName, confirmation } from './account.ts'
import { stop } from './icons.ts'
import { layout } from './layout.ts'
import type { View } from './layout.ts'
import { hiddenFields, html, isolate } from './markup.ts'
import type { Fragment, Markup } from './markup.ts'

/** How the user can sign in, and the forms that change it. */
export function securityPage(view: View, page: SecurityPage): Markup {
  const { frame, methods, confirmUri, problem } = page
  return accountLayout(view, frame, 'security', {
    hasProblem: problem !== undefined,
    main: [
      methods.length === 0 ? html`<p class="part">${view.texts.account.noMethods}</p>` : undefined,
      ...methods.map((method) => ownMethod(view, page, method)),
      methods.length > 0 && confirmUri !== undefined ? confirmation(view, confirmUri) : undefined,
    ],
  })
}

function ownMethod(view: View, page: SecurityPage, method: OwnMethod): Markup {
  switch (method.kind) {
    case 'password':
      return password(view, page, method)
  }
}

function password(view: View, { frame, confirmUri, problem }: SecurityPage, { isSet, username }: OwnMethod): Markup {
  const texts = view.texts.account
  const content = [
    passwordFields(view, username, problem),
    html`<p class="small muted after">${texts.otherSessionsEnd}</p>`,
    html`<div class="buttons"><button class="button main" type="submit">${texts.changePassword}</button></div>`,
  ]
  return html`<section class="part" aria-labelledby="password-heading">
    <h2 id="password-heading">${texts.password}</h2>
    <p>${isSet ? texts.hasPassword : texts.hasNoPassword}</p>
    ${confirmUri === undefined ? accountForm(frame.pages.security, frame.csrf, {}, content) : undefined}
  </section>`
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
      <p class="lead">${texts.linkFor(accountName(page.account))}</p>
      ${isInvitation ? undefined : html`<p class="lead">${texts.resetConsequence}</p>`}
      <form method="post" action="${page.action}" novalidate>
        ${hiddenFields(page.hidden)} ${passwordFields(view, page.username, page.problem)}
        <div class="buttons"><button class="button main" type="submit">${texts.setPassword}</button></div>
      </form>`,
  })
}

export function linkUsedPage(view: View, { accountUri }: LinkUsedPage): Markup {
  const texts = view.texts.account
  return layout(view, {
    title: texts.linkUsedHeading,
    main: html`<h1>${texts.linkUsedHeading}</h1>
      <p class="lead">${texts.linkUsed}</p>
      <div class="buttons"><a class="button main" href="${accountUri}">${texts.toAccount}</a></div>`,
  })
}

/** The two fields of a new password. The name of the user is for password managers. */
function passwordFields({ texts }: View, username: string, problem: PasswordProblem | undefined): Markup {
  const { newPassword, newPasswordHint, repeatPassword, passwordProblems } = texts.account
  const isOfRepeated = problem === 'passwords-differ'
  const error = (id: string, isHere: boolean): Fragment =>
    problem === undefined || !isHere
      ? undefined
      : html`<p class="error" role="alert" id="${id}">${stop}<span>${passwordProblems[problem]}</span></p>`
  const blame = (isHere: boolean): Fragment =>
    problem !== undefined && isHere ? html` aria-invalid="true" autofocus` : undefined
  return html`<input type="hidden" name="username" value="${username}" autocomplete="username" />
    <div class="field">
      <label for="password">${newPassword}</label>
      <p class="small muted hint" id="password-hint">${newPasswordHint}</p>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        aria-describedby="${problem === undefined || isOfRepeated ? 'password-hint' : 'password-hint password-problem'}"
        ${blame(!isOfRepeated)}
      />
      ${error('password-problem', !isOfRepeated)}
    </div>
    <div class="field">
      <label for="repeated">${repeatPassword}</label>
      <input
        id="repeated"
        name="repeated"
        type="password"
        autocomplete="new-password"
        ${blame(isOfRepeated)}${isOfRepeated ? html` aria-describedby="repeated-problem"` : undefined}
      />
      ${error('repeated-problem', isOfRepeated)}
    </div>`
}
