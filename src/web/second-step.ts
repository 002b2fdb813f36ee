import type { SecondStepOffer, SecondStepPage, SecondStepProblem, StepUpView } from '../ports/pages/pages.ts'
import { clientName } from './client.ts'
import { scopeText } from './consent.ts'
import { fieldProblem, pageProblem, submitButton } from './form-parts.ts'
import { layout } from './layout.ts'
import type { View } from './layout.ts'
import { hiddenFields, html } from './markup.ts'
import type { Fragment, Markup } from './markup.ts'
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
  const heading = isSetUp ? texts.setUpSecondStep : texts.secondStep
  return layout(view, {
    title: problem === undefined ? heading : texts.titleWithError(heading),
    main: html`<h1>${heading}</h1>
      <p class="lead muted">${lead(view, page)}</p>
      ${page.stepUp === undefined ? undefined : neededFor(view, page.stepUp)}
      ${isSetUp ? html`<p class="after">${texts.secondStepNeeded}</p>` : undefined}
      ${problem === undefined || isBeside(problem) ? undefined : pageProblem(describe(view, problem))}
      ${offers.length > 0 && isByPasskey ? passkeyMissing(texts.account.passkeyMissing) : undefined}
      ${offers.length === 0 ? html`<p class="part">${texts.noSecondStep}</p>` : undefined}
      ${offers.map((offer) => offerForm(view, page, offer))}
      ${offers.length > 0 && isByPasskey && !isSetUp ? html`<p class="small muted after">${texts.passkeyLost}</p>` : undefined}
      ${page.stepUp === undefined ? undefined : instead(view, page, page.stepUp)}`,
  })
}

/** What the user gets access to with it, so that "continue without" is a choice. */
function neededFor({ texts }: View, { scopes }: StepUpView): Fragment {
  if (scopes.length === 0) return undefined
  return html`<section class="after" aria-labelledby="needed-for">
    <h2 id="needed-for">${texts.stepUpFor}</h2>
    <ul class="plain" role="list">
      ${scopes.map((scope) => html`<li>${scopeText(texts, scope)}</li> `)}
    </ul>
  </section>`
}

/** A user who cannot confirm is not stuck. */
function instead({ texts }: View, { hidden }: SecondStepPage, { action, isEnd, switchUri }: StepUpView): Markup {
  return html`<form method="post" action="${action}">
      ${hiddenFields(hidden)} ${submitButton(isEnd ? texts.account.cancel : texts.continueWithout, 'plain')}
    </form>
    <p class="small after"><a class="inline" href="${switchUri}">${texts.otherAccount}</a></p>`
}

/** A user who is signed in learns why the page comes. */
function lead(view: View, { client, stepUp }: SecondStepPage): Fragment {
  if (stepUp === undefined || client === undefined) return continuation(view, { client, isConfirmation: false })
  return view.texts.stepUp(clientName(client, view.texts.namelessApp))
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
        <summary class="small">${view.texts.cannotUseApp}</summary>
        ${codeForm(view, page, offer)}
      </details>`
    case 'passkey':
      return passkeyForm(view, {
        action: offer.action,
        hidden: page.hidden,
        ceremony: offer.ceremony,
        button: isNew(offer) ? view.texts.account.addPasskey : view.texts.passkeyStep,
        look: 'plain',
        hasAutofill: false,
      })
    case 'provider':
      return providerForm(view, page, offer)
    case 'set-up':
      return html`${page.offers.length > 1 ? html`<p class="or small muted alone">${view.texts.or}</p>` : undefined}
        <form method="post" action="${offer.action}" novalidate>
          ${hiddenFields({ ...page.hidden, ...offer.hidden })}
          ${enrolmentFields(view, offer.enrolment, isBlamed(page, offer))} ${submitButton(view.texts.continue, 'main')}
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
  const isWrong = isBlamed(page, offer)
  const hint = isOfApp ? html`<p class="small muted hint" id="code-hint">${texts.codeHint}</p>` : undefined
  const described = [isOfApp ? 'code-hint' : [], isWrong ? `${offer.kind}-problem` : []].flat().join(' ')
  return html`<form method="post" action="${offer.action}" novalidate>
    ${hiddenFields(page.hidden)}
    <div class="field">
      <label for="${offer.kind}">${isOfApp ? texts.code : texts.recoveryCode}</label>
      ${hint}
      <input
        id="${offer.kind}"
        name="code"
        type="text"
        autocapitalize="none"
        spellcheck="false"
        ${isOfApp ? html` inputmode="numeric" autocomplete="one-time-code"` : html` autocomplete="off"`}
        ${isFirst(page, offer) ? html` autofocus` : undefined}
        ${described === '' ? undefined : html` aria-describedby="${described}"`}
        ${isWrong ? html` aria-invalid="true"` : undefined}
      />
      ${isWrong ? fieldProblem(`${offer.kind}-problem`, isOfApp ? texts.codeWrong : texts.recoveryCodeWrong) : undefined}
    </div>
    ${submitButton(texts.continue, isOfApp ? 'main' : 'plain')}
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
      return texts.passkeyFailed
    case 'second-step-used':
      return texts.codeUsed
    case 'second-step-locked':
      return texts.codesLocked
    case 'throttled':
      return texts.throttled(inAWhile(language, problem.retryAfterSeconds))
  }
}
