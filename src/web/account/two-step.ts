import type {
  OwnRecoveryCodesPage,
  RemoveTwoStepPage,
  SecurityPage,
  SetUpAppPage,
  TwoStepView,
} from '../../ports/pages/account.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, type Markup } from '../markup.ts'
import { enrolmentFields, recoveryCodeList } from '../second-factor.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'

/** Whether the two-step sign-in is on, and links to the pages that change it. */
export function twoStepSection(view: View, { frame: { pages } }: SecurityPage, twoStep: TwoStepView): Markup {
  const { texts } = view
  return html`<section class="part" aria-labelledby="two-step-heading">
    <h2 id="two-step-heading">${texts.show('account.twoStep')}</h2>
    ${state(view, twoStep)}
    ${stepLink(pages['set-up-app'], twoStep.kind === 'off' ? texts.show('account.setUpTwoStep') : texts.show('account.replaceApp'))}
    ${twoStep.kind === 'on' ? stepLink(pages['recovery-codes'], texts.show('account.newRecoveryCodes')) : undefined}
    ${twoStep.kind === 'on' && twoStep.isRemovable ? stepLink(pages['remove-two-step'], texts.show('account.switchOffTwoStep')) : undefined}
  </section>`
}

function state(view: View, twoStep: TwoStepView): Fragment {
  const { texts } = view
  switch (twoStep.kind) {
    case 'off':
      return html`<p>${texts.show('account.twoStepOff')}</p>`
    case 'void':
      return html`<p>${texts.show('account.twoStepVoid')}</p>`
    case 'on':
      return html`<p>${texts.show('account.twoStepOn', { since: ago(view, twoStep.sinceSecondsAgo) })}</p>
        <p class="small muted">${texts.show('account.recoveryLeft', { count: twoStep.recoveryCodes })}</p>`
  }
}

/** The QR code of an app, and the form of its first code. */
export function setUpAppPage(view: View, { frame, hidden, enrolment, isReplacing, isWrong }: SetUpAppPage): Markup {
  const { texts } = view
  const content = [
    enrolmentFields(view, enrolment, isWrong),
    html`<p class="small muted after">
      ${isReplacing ? texts.show('account.appReplaced') : texts.show('account.otherSessionsEnd')}
    </p>`,
    stepButtons(view, frame.pages.security, view.texts.show('continue'), 'main'),
  ]
  return accountLayout(view, frame, 'set-up-app', {
    hasProblem: isWrong,
    main: accountForm(frame.pages['set-up-app'], frame.csrf, hidden, content),
  })
}

/** The question before new recovery codes are made, or the new ones. */
export function ownRecoveryCodesPage(view: View, { frame, codes }: OwnRecoveryCodesPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.security, texts.show('account.newRecoveryCodes'), 'main')
  return accountLayout(view, frame, 'recovery-codes', {
    main:
      codes === undefined
        ? html`<p class="lead">${texts.show('account.newCodesConsequence')}</p>
            ${accountForm(frame.pages['recovery-codes'], frame.csrf, {}, buttons)}`
        : [recoveryCodeList(view, codes), stepLink(frame.pages.security, texts.show('account.codesSaved'))],
  })
}

/** The question before the two-step sign-in is switched off. */
export function removeTwoStepPage(view: View, { frame }: RemoveTwoStepPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.security, texts.show('account.switchOffTwoStep'), 'danger')
  return accountLayout(view, frame, 'remove-two-step', {
    main: html`<p class="lead">${texts.show('account.switchOffConsequence')}</p>
      ${accountForm(frame.pages['remove-two-step'], frame.csrf, {}, buttons)}`,
  })
}
