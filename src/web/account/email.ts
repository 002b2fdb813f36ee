import type { ChangeEmailPage, ConfirmEmailPage, OverviewPage } from '../../ports/pages/account.ts'
import { emailField, pageProblem, textField } from '../form-parts.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, isolate, type Markup } from '../markup.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'
import { fact, type Row } from './rows.ts'

/** The user's address, and what the user can do with it. */
export function emailRows({ texts }: View, { frame, email, isEmailEditable }: OverviewPage): readonly Row[] {
  const { pages, csrf } = frame
  const change = (text: Fragment) => (isEmailEditable ? { uri: pages['change-email'], text } : undefined)
  const heading = texts.show('email')
  if (email === undefined)
    return [{ heading, facts: fact(texts.show('account.noEmail')), action: change(texts.show('account.add')) }]
  const verified = texts.show(email.isVerified ? 'account.verified' : 'account.unverified')
  const own: Row = {
    heading,
    facts: html`<p>${isolate(email.address)} <span class="small muted">${verified}</span></p>`,
    action: change(texts.show('account.change')),
  }
  if (email.isVerified || !isEmailEditable) return [own]
  const hidden = { email: email.address }
  const confirm: Row = {
    heading: texts.show('account.confirmEmail'),
    facts: fact(texts.show('account.changeEmailLead')),
    action: { action: pages['change-email'], csrf, hidden, text: texts.show('account.sendCode') },
  }
  return [own, confirm]
}

/** The form that mails a code to an address. */
export function changeEmailPage(view: View, { frame, email, hasEmail, problem }: ChangeEmailPage): Markup {
  const { texts } = view
  return accountLayout(view, frame, 'change-email', {
    hasProblem: problem !== undefined,
    title: hasEmail ? 'account.changeEmail' : 'account.addEmail',
    main: html`<p class="lead">${texts.show('account.changeEmailLead')}</p>
      ${accountForm(frame.pages['change-email'], frame.csrf, {}, [
        emailField(texts.show('email'), email, emailProblem(view, problem)),
        stepButtons(view, frame.pages.overview, texts.show('account.sendCode'), 'main'),
      ])}`,
  })
}

function emailProblem({ texts }: View, problem: ChangeEmailPage['problem']): Fragment {
  switch (problem?.kind) {
    case undefined:
      return undefined
    case 'email-missing':
      return texts.show('emailMissing')
    case 'email-unchanged':
      return texts.show('account.emailUnchanged')
    case 'email-of-provider':
      return texts.show('account.emailOfProvider', { provider: isolate(problem.provider) })
  }
}

/** The form of the code that was mailed. */
export function confirmEmailPage(view: View, { frame, email, problem }: ConfirmEmailPage): Markup {
  const { texts } = view
  const text = problem === undefined ? undefined : texts.show(`account.emailCodeProblems.${problem}`)
  return accountLayout(view, frame, 'confirm-email', {
    hasProblem: problem !== undefined,
    main:
      email === undefined
        ? html`${text === undefined ? undefined : pageProblem(text)}
          ${stepLink(frame.pages['change-email'], texts.show('account.changeEmail'))}`
        : html`<p class="lead">${texts.show('account.enterEmailCode', { email: isolate(email) })}</p>
            ${accountForm(frame.pages['confirm-email'], frame.csrf, {}, [
              codeField(view, text),
              stepButtons(view, frame.pages['change-email'], texts.show('account.goOn'), 'main'),
            ])}`,
  })
}

function codeField({ texts }: View, problem: Markup | undefined): Markup {
  return textField({
    id: 'code',
    label: texts.show('account.emailCode'),
    hint: texts.show('account.emailCodeHint'),
    attributes: html`inputmode="numeric" autocomplete="one-time-code" autofocus`,
    problem,
  })
}
