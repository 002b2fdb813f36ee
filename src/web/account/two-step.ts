import type {
  AccountFrame,
  OwnRecoveryCodesPage,
  RemoveTwoStepPage,
  SetUpAppPage,
  TwoStepView,
} from '../../ports/pages/account.ts'
import type { View } from '../layout.ts'
import { html, type Markup } from '../markup.ts'
import { enrolmentFields, recoveryCodeList } from '../second-factor.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'
import { fact, type Row } from './rows.ts'

/** Whether the two-step sign-in is on, and links to the pages that set an app up and make new recovery codes. */
export function twoStepRows(view: View, { pages }: AccountFrame, twoStep: TwoStepView): readonly Row[] {
  const { texts } = view
  const app: Row = {
    heading: texts.show('account.twoStep'),
    facts: fact(stateOf(view, twoStep)),
    action: {
      uri: pages['set-up-app'],
      text: texts.show(twoStep.kind === 'off' ? 'account.setUp' : 'account.replaceApp'),
    },
  }
  if (twoStep.kind !== 'on') return [app]
  const codes: Row = {
    heading: texts.show('recoveryCodes'),
    facts: fact(texts.show('account.recoveryLeft', { count: twoStep.recoveryCodes })),
    action: { uri: pages['recovery-codes'], text: texts.show('account.newCodes') },
  }
  return [app, codes]
}

/** A link to the page that asks before the two-step sign-in is switched off, if the operator allows it. */
export function twoStepRemovalRows({ texts }: View, { pages }: AccountFrame, twoStep: TwoStepView): readonly Row[] {
  if (twoStep.kind !== 'on' || !twoStep.isRemovable) return []
  const text = texts.show('account.switchOffTwoStep')
  const action = { uri: pages['remove-two-step'], text, isInHeading: true } as const
  return [{ heading: texts.show('account.pages.remove-two-step'), facts: undefined, action }]
}

function stateOf(view: View, twoStep: TwoStepView): Markup {
  const { texts } = view
  switch (twoStep.kind) {
    case 'off':
      return texts.show('account.twoStepOff')
    case 'void':
      return texts.show('account.twoStepVoid')
    case 'on':
      return texts.show('account.twoStepOn', { since: ago(view, twoStep.sinceSecondsAgo) })
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
