import type { SecondStepOffer, SecondStepPage, SecondStepProblem, StepUpView } from '../ports/pages/pages.ts'
import { clientName } from './client.ts'
import { scopeText } from './consent.ts'
import { pageProblem, submitButton, textField } from './form-parts.ts'
import { layout, type View } from './layout.ts'
import { type Fragment, hiddenFields, html, type Markup } from './markup.ts'
import { passkeyForm, passkeyMissing } from './passkey.ts'
import { enrolmentFields } from './second-factor.ts'
import { continuation, providerForm } from './sign-in.ts'
import { inAWhile } from './spans.ts'

type WrongStep = Extract<SecondStepProblem, { readonly kind: 'second-step-wrong' }>
type CodeProblem = WrongStep & { readonly offer: Exclude<WrongStep['offer'], 'passkey'> }
type GeneralProblem = Exclude<SecondStepProblem, WrongStep> | (WrongStep & { readonly offer: 'passkey' })

/** The forms of the second step. The code of the app is first; what replaces it is folded, unless it is the only way. */
export function secondStepPage(view: View, page: SecondStepPage): Markup {
  const { texts } = view
  const { problem, offers } = page
  const isSetUp = offers.some(isNew)
  const isByPasskey = offers.every(({ kind }) => kind === 'passkey')
  const title = isSetUp ? 'setUpSecondStep' : 'secondStep'
  return layout(view, {
    title,
    hasProblem: problem !== undefined,
    main: html`${page.stepUp?.addsFactor === true ? html`<p class="small muted">${texts.show('setUpThen', { client: appName(view, page) })}</p>` : undefined}
      <h1>${texts.show(title)}</h1>
      <p class="lead muted">${lead(view, page)}</p>
      ${page.stepUp === undefined ? undefined : neededFor(view, page.stepUp)}
      ${isSetUp && page.stepUp === undefined ? html`<p class="after">${texts.show('secondStepNeeded')}</p>` : undefined}
      ${problem === undefined || isBeside(problem) ? undefined : pageProblem(describe(view, problem))}
      ${offers.length > 0 && isByPasskey ? passkeyMissing(texts.show('account.passkeyMissing')) : undefined}
      ${offers.length === 0 ? html`<p class="part">${texts.show('noSecondStep')}</p>` : undefined}
      ${offers.map((offer) => offerForm(view, page, offer))}
      ${offers.length > 0 && isByPasskey && !isSetUp ? html`<p class="small muted after">${texts.show('passkeyLost')}</p>` : undefined}
      ${page.stepUp === undefined ? undefined : instead(view, page, page.stepUp)}`,
  })
}

/** What the user gets access to with it, so that "continue without" is a choice. */
function neededFor(view: View, { scopes }: StepUpView): Fragment {
  if (scopes.length === 0) return undefined
  return html`<section class="after" aria-labelledby="needed-for">
    <h2 id="needed-for">${view.texts.show('stepUpFor')}</h2>
    <ul class="plain" role="list">
      ${scopes.map((scope) => html`<li>${scopeText(view, scope)}</li> `)}
    </ul>
  </section>`
}

/** A user who cannot confirm is not stuck. */
function instead({ texts }: View, { hidden }: SecondStepPage, { action, isEnd, switchUri }: StepUpView): Markup {
  return html`<form method="post" action="${action}">
      ${hiddenFields(hidden)} ${submitButton(texts.show(isEnd ? 'account.cancel' : 'continueWithout'), 'plain')}
    </form>
    <p class="small after"><a class="inline" href="${switchUri}">${texts.show('otherAccount')}</a></p>`
}

/** A user who is signed in learns why the page comes. */
function lead(view: View, { client, stepUp }: SecondStepPage): Fragment {
  if (stepUp === undefined || client === undefined) return continuation(view, { client, isConfirmation: false })
  return view.texts.show(stepUp.addsFactor ? 'setUpLead' : 'stepUp', {
    client: clientName(view, client, view.texts.show('namelessApp')),
  })
}

function appName(view: View, { client }: SecondStepPage): Fragment {
  return client === undefined ? undefined : clientName(view, client, view.texts.show('namelessAppInside'))
}

function isNew(offer: SecondStepOffer): boolean {
  return offer.kind === 'set-up' || (offer.kind === 'passkey' && offer.ceremony.kind === 'create')
}

/** Whether the problem is shown at its field. A passkey has none. */
function isBeside(problem: SecondStepProblem): problem is CodeProblem {
  return problem.kind === 'second-step-wrong' && problem.offer !== 'passkey'
}

function offerForm(view: View, page: SecondStepPage, offer: SecondStepOffer): Markup {
  switch (offer.kind) {
    case 'code':
      return codeForm(view, page, offer)
    case 'recovery-code':
      return html`<details class="after" ${isWanted(page, offer) ? html` open` : undefined}>
        <summary class="small">${view.texts.show('cannotUseApp')}</summary>
        ${codeForm(view, page, offer)}
      </details>`
    case 'passkey':
      return passkeyForm(view, {
        action: offer.action,
        hidden: page.hidden,
        ceremony: offer.ceremony,
        button: isNew(offer) ? view.texts.show('account.addPasskey') : view.texts.show('passkeyStep'),
        look: 'plain',
        hasAutofill: false,
      })
    case 'provider':
      return providerForm(view, page, offer)
    case 'set-up':
      return html`${page.offers.length > 1 ? html`<p class="or small muted alone">${view.texts.show('or')}</p>` : undefined}
        <form method="post" action="${offer.action}" novalidate>
          ${hiddenFields({ ...page.hidden, ...offer.hidden })}
          ${enrolmentFields(view, offer.enrolment, isBlamed(page, offer))}
          ${submitButton(view.texts.show('continue'), 'main')}
        </form>`
  }
}

function codeForm(
  view: View,
  page: SecondStepPage,
  offer: Extract<SecondStepOffer, { readonly kind: 'code' | 'recovery-code' }>,
): Markup {
  const { texts } = view
  const isOfApp = offer.kind === 'code'
  const wrong = isOfApp ? texts.show('codeWrong') : texts.show('recoveryCodeWrong')
  const usual = isOfApp ? html`inputmode="numeric" autocomplete="one-time-code"` : html`autocomplete="off"`
  const cursor = isFirst(page, offer) ? html`autofocus` : undefined
  return html`<form method="post" action="${offer.action}" novalidate>
    ${hiddenFields(page.hidden)}
    ${textField({
      id: offer.kind,
      name: 'code',
      label: isOfApp ? texts.show('code') : texts.show('recoveryCode'),
      hint: isOfApp ? texts.show('codeHint') : undefined,
      attributes: html`autocapitalize="none" spellcheck="false" ${usual} ${cursor}`,
      problem: isBlamed(page, offer) ? wrong : undefined,
    })}
    ${submitButton(texts.show('continue'), isOfApp ? 'main' : 'plain')}
  </form>`
}

/** Whether a recovery code is what the user needs now: one was wrong, or codes of the app are refused. */
function isWanted(page: SecondStepPage, offer: SecondStepOffer): boolean {
  return isBlamed(page, offer) || page.problem?.kind === 'second-step-locked'
}

/** Whether the cursor is in the field of a code: in that of the app, unless a recovery code is needed. */
function isFirst(page: SecondStepPage, offer: SecondStepOffer): boolean {
  const recovery = page.offers.find(({ kind }) => kind === 'recovery-code')
  return (recovery !== undefined && isWanted(page, recovery)) === (offer === recovery)
}

function isBlamed({ problem }: SecondStepPage, { kind }: SecondStepOffer): boolean {
  return problem?.kind === 'second-step-wrong' && problem.offer === kind
}

function describe({ texts, language }: View, problem: GeneralProblem): string {
  switch (problem.kind) {
    case 'second-step-wrong':
      return texts.show('passkeyFailed')
    case 'second-step-used':
      return texts.show('codeUsed')
    case 'second-step-locked':
      return texts.show('codesLocked')
    case 'throttled':
      return texts.show('throttled', { when: inAWhile(language, problem.retryAfterSeconds) })
  }
}
