import type { ChangeEmailPage, ConfirmEmailPage, OverviewPage } from '../../ports/pages/account.ts'
import { emailField, fieldProblem, pageProblem } from '../form-parts.ts'
import type { View } from '../layout.ts'
import { html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'

/** The user's address, and what the user can do with it. */
export function emailSection({ texts: { account: texts } }: View, page: OverviewPage): Markup {
  const { frame, email, isEmailEditable } = page
  if (email === undefined) {
    return html`<dd>${texts.noEmail}</dd>
      ${isEmailEditable ? html`<dd>${stepLink(frame.pages['change-email'], texts.addEmail)}</dd>` : undefined}`
  }
  const confirm =
    email.isVerified || !isEmailEditable
      ? undefined
      : accountForm(
          frame.pages['change-email'],
          frame.csrf,
          { email: email.address },
          html`<p class="step"><button class="button" type="submit">${texts.confirmEmail}</button></p>`,
        )
  return html`<dd>
      ${isolate(email.address)} <span class="small muted">${email.isVerified ? texts.verified : texts.unverified}</span>
    </dd>
    ${isEmailEditable ? html`<dd>${confirm} ${stepLink(frame.pages['change-email'], texts.changeEmail)}</dd>` : undefined}`
}

/** The form that mails a code to an address. */
export function changeEmailPage(view: View, { frame, email, hasEmail, problem }: ChangeEmailPage): Markup {
  const texts = view.texts.account
  return accountLayout(view, frame, 'change-email', {
    hasProblem: problem !== undefined,
    title: hasEmail ? texts.changeEmail : texts.addEmail,
    main: html`<p class="lead">${texts.changeEmailLead}</p>
      ${accountForm(frame.pages['change-email'], frame.csrf, {}, [
        emailField(view.texts.email, email, emailProblem(view, problem)),
        stepButtons(view, frame.pages.overview, texts.sendCode, 'main'),
      ])}`,
  })
}

function emailProblem({ texts }: View, problem: ChangeEmailPage['problem']): Fragment {
  switch (problem?.kind) {
    case undefined:
      return undefined
    case 'email-missing':
      return texts.emailMissing
    case 'email-unchanged':
      return texts.account.emailUnchanged
    case 'email-of-provider':
      return texts.account.emailOfProvider(isolate(problem.provider))
  }
}

/** The form of the code that was mailed. */
export function confirmEmailPage(view: View, { frame, email, problem }: ConfirmEmailPage): Markup {
  const texts = view.texts.account
  const text = problem === undefined ? undefined : texts.emailCodeProblems[problem]
  return accountLayout(view, frame, 'confirm-email', {
    hasProblem: problem !== undefined,
    main:
      email === undefined
        ? html`${text === undefined ? undefined : pageProblem(text)}
          ${stepLink(frame.pages['change-email'], texts.changeEmail)}`
        : html`<p class="lead">${texts.enterEmailCode(isolate(email))}</p>
            ${accountForm(frame.pages['confirm-email'], frame.csrf, {}, [
              codeField(view, text),
              stepButtons(view, frame.pages['change-email'], texts.goOn, 'main'),
            ])}`,
  })
}

function codeField({ texts: { account: texts } }: View, problem: string | undefined): Markup {
  return html`<div class="field">
    <label for="code">${texts.emailCode}</label>
    <p class="small muted hint" id="code-hint">${texts.emailCodeHint}</p>
    <input
      id="code"
      name="code"
      type="text"
      inputmode="numeric"
      autocomplete="one-time-code"
      autofocus
      aria-describedby="${problem === undefined ? 'code-hint' : 'code-hint code-problem'}"
      ${problem === undefined ? undefined : html` aria-invalid="true"`}
    />
    ${problem === undefined ? undefined : fieldProblem('code-problem', problem)}
  </div>`
}
