import type { AccountFrame, OwnMethod, PasswordPage, RemovePasswordPage } from '../../ports/pages/account.ts'
import { fieldProblem, revealButton } from '../form-parts.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, type Markup } from '../markup.ts'
import { accountForm, accountLayout, stepButtons } from './frame.ts'
import { fact, type Row } from './rows.ts'

type OwnPassword = Extract<OwnMethod, { readonly kind: 'password' }>

/** Whether the user has a password, and a link to the page that changes it. */
export function passwordRow({ texts }: View, { pages }: AccountFrame, { isSet }: OwnPassword): Row {
  return {
    heading: texts.show('password'),
    facts: fact(texts.show(isSet ? 'account.hasPassword' : 'account.hasNoPassword')),
    action: { uri: pages.password, text: texts.show(isSet ? 'account.change' : 'account.setUp') },
  }
}

/** A link to the page that asks before the password is removed, if another method stays. */
export function passwordRemovalRows({ texts }: View, { pages }: AccountFrame, own: OwnPassword): readonly Row[] {
  if (!own.isRemovable) return []
  const action = { uri: pages['remove-password'], text: texts.show('account.remove'), isInHeading: true } as const
  return [{ heading: texts.show('account.pages.remove-password'), facts: undefined, action }]
}

/** The form of a new password. */
export function passwordPage(view: View, page: PasswordPage): Markup {
  const { frame, isSet, username, problem } = page
  const { texts } = view
  const title = isSet ? 'account.changePassword' : 'account.setPassword'
  const content = [
    passwordFields(view, username, page),
    html`<p class="small muted after">${texts.show('account.otherSessionsEnd')}</p>`,
    stepButtons(view, frame.pages.security, texts.show(title), 'main'),
  ]
  return accountLayout(view, frame, 'password', {
    hasProblem: problem !== undefined,
    title,
    main: accountForm(frame.pages.password, frame.csrf, {}, content),
  })
}

/** The question before the password is removed. */
export function removePasswordPage(view: View, { frame }: RemovePasswordPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.security, texts.show('account.remove'), 'danger')
  return accountLayout(view, frame, 'remove-password', {
    main: html`<p class="lead">${texts.show('account.removePasswordConsequence')}</p>
      ${accountForm(frame.pages['remove-password'], frame.csrf, {}, buttons)}`,
  })
}

/** The two fields of a new password. The name of the user is for password managers. */
export function passwordFields(
  view: View,
  username: string,
  { problem, shortestPassword }: Pick<PasswordPage, 'problem' | 'shortestPassword'>,
): Markup {
  const { texts } = view
  const isOfRepeated = problem === 'passwords-differ'
  const error = (id: string, isHere: boolean): Fragment =>
    problem === undefined || !isHere
      ? undefined
      : fieldProblem(id, texts.show(`account.passwordProblems.${problem}`, { shortest: shortestPassword }))
  const blame = (isHere: boolean): Fragment =>
    problem !== undefined && isHere ? html` aria-invalid="true" autofocus` : undefined
  return html`<input type="hidden" name="username" value="${username}" autocomplete="username" />
    <div class="field">
      <label for="password">${texts.show('account.newPassword')}</label>
      <p class="small muted hint" id="password-hint">
        ${texts.show('account.newPasswordHint', { shortest: shortestPassword })}
      </p>
      <div class="typed">
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="new-password"
          aria-describedby="${problem === undefined || isOfRepeated ? 'password-hint' : 'password-hint password-problem'}"
          ${blame(!isOfRepeated)}
        />
        ${revealButton(view, 'password')}
      </div>
      ${error('password-problem', !isOfRepeated)}
    </div>
    <div class="field">
      <label for="repeated">${texts.show('account.repeatPassword')}</label>
      <div class="typed">
        <input
          id="repeated"
          name="repeated"
          type="password"
          autocomplete="new-password"
          ${blame(isOfRepeated)}${isOfRepeated ? html` aria-describedby="repeated-problem"` : undefined}
        />
        ${revealButton(view, 'repeated')}
      </div>
      ${error('repeated-problem', isOfRepeated)}
    </div>`
}
