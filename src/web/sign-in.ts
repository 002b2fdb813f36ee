import {
  ASK_FIELD,
  type LeavePage,
  type ProviderOffer,
  type SignInOffer,
  type SignInPage,
  type SignInProblem,
} from '../ports/pages/pages.ts'
import { FORM_REFUSALS } from '../protocol/authorization/page-refusals.ts'
import { clientName } from './client.ts'
import { developerNotes } from './developer-notes.ts'
import { fieldProblem, linkButton, pageProblem, revealButton, submitButton } from './form-parts.ts'
import { providerIcon } from './icons.ts'
import { layout, type View } from './layout.ts'
import { type Fragment, hiddenFields, href, html, isolate, type Markup } from './markup.ts'
import { passkeyForm } from './passkey.ts'
import { inAWhile } from './spans.ts'
import type { Translation } from './texts.ts'

type Field = 'email' | 'password'

/** The message about the last attempt, and the fields that it is about. */
interface Complaint {
  readonly text: Markup
  readonly fields: readonly Field[]
}

/** What the sign-in methods offer. */
export function signInPage(view: View, page: SignInPage): Markup {
  const { texts } = view
  const complaint = page.problem === undefined ? undefined : describe(view, page.problem)
  return layout(view, {
    title: 'signIn',
    hasProblem: complaint !== undefined,
    main: html`<h1>${texts.show('signIn')}</h1>
      <p class="lead muted">${continuation(view, page)}</p>
      ${page.isConfirmation && page.client !== undefined ? html`<p class="part">${texts.show('signInAgain')}</p>` : undefined}
      ${complaint === undefined || complaint.fields.length === 1 ? undefined : pageProblem(complaint.text)}
      ${connection(view, page)}
      ${page.offers.length === 0 ? html`<p class="part">${texts.show('noSignInMethod')}</p>` : undefined}
      ${page.offers.map((offer) => offerForm(view, page, offer, complaint))} ${lostPasskey(view, page)}
      ${notes(view, page.problem, complaint)}`,
  })
}

/** What to do without the passkey, where there are no passwords. */
function lostPasskey({ texts }: View, { offers, forgotUri }: SignInPage): Fragment {
  if (forgotUri === undefined || !offers.some(({ kind }) => kind === 'passkey')) return undefined
  if (offers.some(({ kind }) => kind === 'password')) return undefined
  return html`<p class="small after"><a class="inline" href="${forgotUri}">${texts.show('lostPasskey')}</a></p>`
}

/** A message about no field is about something that the person cannot correct on the page. */
function notes(view: View, problem: SignInProblem | undefined, complaint: Complaint | undefined): Fragment {
  if (problem === undefined || complaint === undefined || complaint.fields.length > 0) return undefined
  return developerNotes(view, { reason: problem.kind, explanation: FORM_REFUSALS[problem.kind] })
}

function offerForm(view: View, page: SignInPage, offer: SignInOffer, complaint: Complaint | undefined): Markup {
  switch (offer.kind) {
    case 'password':
      return addressForm(view, page, offer, complaint)
    case 'address':
      return addressForm(view, page, { ...offer, asksEmailFirst: true }, complaint)
    case 'provider':
      return providerForm(view, page, offer)
    case 'passkey':
      return passkeyForm(view, {
        ...offer,
        hidden: page.hidden,
        button: view.texts.show('passkeySignIn'),
        look: 'plain',
        hasAutofill: true,
      })
    case 'application':
      return linkButton(offer.uri, view.texts.show('signIn'))
  }
}

/** The page that leads to a provider at once. The link is for browsers that do not. */
export function leavePage(view: View, { provider, uri }: LeavePage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'leaveTitle',
    refresh: uri,
    main: html`<h1>${texts.show('leaveHeading', { provider: isolate(provider) })}</h1>
      <p class="lead">${texts.show('leaveHint', { provider: isolate(provider) })}</p>
      ${linkButton(href(uri), texts.show('continue'))}`,
  })
}

/** Why the user has to sign in to an account first. */
function connection({ texts }: View, { connecting, offers }: SignInPage): Fragment {
  if (connecting === undefined) return undefined
  const { name, isRequired } = connecting
  // Said whether the account has one or not, which the page does not reveal.
  const isPasskeyUsable = !isRequired && offers.some(({ kind }) => kind === 'passkey')
  return html`<p class="notice" role="status">
    <span
      >${texts.show(isRequired ? 'signInToConnectRequired' : 'signInToConnect', { provider: isolate(name) })}
      ${isPasskeyUsable ? texts.show('connectByPasskey') : undefined}</span
    >
  </p>`
}

/** The button of a provider. */
export function providerForm({ texts }: View, page: Pick<SignInPage, 'hidden'>, offer: ProviderOffer): Markup {
  const hint = `down-${offer.id}`
  return html`<form class="provider" method="post" action="${offer.action}">
    ${hiddenFields({ ...page.hidden, offered: offer.offered, provider: offer.id })}
    <div class="buttons">
      <button class="button" type="submit" ${offer.isDown ? html` aria-describedby="${hint}"` : undefined}>
        ${providerIcon(offer)}<span>${texts.show('continueWith', { provider: isolate(offer.name) })}</span>
      </button>
    </div>
    ${offer.isDown ? html`<p class="small muted beneath" id="${hint}">${texts.show('providerAway')}</p>` : undefined}
  </form>`
}

/** The form with the address of the user, and with the password unless the address comes first. */
function addressForm(
  view: View,
  page: SignInPage,
  { action, asksEmailFirst }: Pick<Extract<SignInOffer, { readonly kind: 'password' }>, 'action' | 'asksEmailFirst'>,
  complaint: Complaint | undefined,
): Markup {
  const { texts } = view
  const others = page.offers.filter(({ kind }) => kind !== 'password' && kind !== 'address')
  // Beside a passkey alone, whose form only a script shows.
  const look = others.every(({ kind }) => kind === 'passkey') ? 'or small muted alone' : 'or small muted'
  return html`${others.length > 0 ? html`<p class="${look}">${texts.show('or')}</p>` : undefined}
    <form method="post" action="${action}" ${asksEmailFirst ? undefined : html` class="credentials"`} novalidate>
      ${hiddenFields(page.hidden)}
      <div class="field">
        <label for="email">${texts.show('email')}</label>
        <input
          id="email"
          name="email"
          type="text"
          inputmode="email"
          value="${page.email}"
          autocomplete="username webauthn"
          autocapitalize="none"
          spellcheck="false"
          ${focus(page, complaint, 'email')}${blame(complaint, 'email')}
        />
        ${beside(complaint, 'email')}
      </div>
      ${asksEmailFirst ? undefined : passwordField(view, page, complaint)}
      ${submitButton(asksEmailFirst ? texts.show('continue') : texts.show('signIn'), 'main')}
      ${asksEmailFirst ? undefined : forgotten(view, page)}
    </form>`
}

/**
 * What to do without the password: the page that mails a link, with the address. Where no mail is sent, the operator hands a link over.
 * The stylesheet shows it beside the label of the password. It comes last, because the key Enter presses the first button of a form.
 */
function forgotten({ branding, texts }: View, { forgotUri }: SignInPage): Markup {
  if (forgotUri !== undefined)
    return html`<button class="inline link aside" type="submit" formaction="${forgotUri}" name="${ASK_FIELD}">
      ${texts.show('forgot')}
    </button>`
  return html`<details class="small aside">
    <summary>${texts.show('forgot')}</summary>
    <p class="muted">${texts.show('forgotHint', { brand: isolate(branding.name) })}</p>
  </details>`
}

function passwordField(view: View, page: SignInPage, complaint: Complaint | undefined): Markup {
  return html`<label for="password">${view.texts.show('password')}</label>
    <div class="typed">
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        ${focus(page, complaint, 'password')}${blame(complaint, 'password')}
      />
      ${revealButton(view, 'password')}
    </div>
    ${beside(complaint, 'password')}`
}

/** Names the client that the user continues to, and its destination. */
export function continuation(
  view: View,
  { client, isConfirmation }: Pick<SignInPage, 'client' | 'isConfirmation'>,
): Fragment {
  const { texts } = view
  if (client === undefined) return isConfirmation ? texts.show('continueConfirmed') : texts.show('continueToAccount')
  const name = clientName(view, client, texts.show('namelessAppInside'))
  switch (client.destination.kind) {
    case 'host':
      return texts.show('continueToHost', { client: name, host: isolate(client.destination.host) })
    case 'this-computer':
      return texts.show('continueToComputer', { client: name })
    case 'app':
      return texts.show('continueTo', { client: name })
    case 'device':
      return texts.show('device.signIn')
  }
}

function describe({ texts, language }: View, problem: SignInProblem): Complaint {
  switch (problem.kind) {
    case 'wrong-credentials':
      return { text: texts.show('wrongCredentials'), fields: ['email', 'password'] }
    case 'email-missing':
      return { text: texts.show('emailMissing'), fields: ['email'] }
    case 'address-unknown':
      return { text: texts.show('addressUnknown'), fields: ['email'] }
    case 'password-missing':
      return { text: texts.show('passwordMissing'), fields: ['password'] }
    case 'password-too-long':
      return { text: texts.show('passwordTooLong'), fields: ['password'] }
    case 'second-step-expired':
      return { text: texts.show('secondStepExpired'), fields: [] }
    case 'passkey-invalid':
      return { text: texts.show('passkeyFailed'), fields: [] }
    case 'passkey-unknown':
      return { text: texts.show('passkeyUnknown'), fields: [] }
    case 'method-off':
      return { text: texts.show('methodOff'), fields: [] }
    case 'application-refused':
      return { text: texts.show('applicationRefused'), fields: [] }
    case 'not-answered':
      return { text: texts.show('notAnswered'), fields: [] }
    case 'provider-off':
      return { text: texts.show('providerOff', { provider: isolate(problem.provider) }), fields: [] }
    case 'provider-down':
      return {
        text: texts.show(problem.isRequired ? 'providerDownRequired' : 'providerDown', {
          provider: isolate(problem.provider),
        }),
        fields: [],
      }
    case 'provider-failed':
      return {
        text: texts.show(problem.isRequired ? 'providerFailedRequired' : 'providerFailed', {
          provider: isolate(problem.provider),
        }),
        fields: [],
      }
    case 'provider-not-fresh':
      return { text: texts.show('providerNotFresh', { provider: isolate(problem.provider) }), fields: [] }
    case 'account-refused':
      return { text: texts.show('accountRefused'), fields: [] }
    case 'no-account':
      return { text: noAccount(texts, problem), fields: [] }
    case 'identity-taken':
      return { text: texts.show('identityTaken', { provider: isolate(problem.provider) }), fields: [] }
    case 'throttled':
      return { text: texts.show('throttled', { when: inAWhile(language, problem.retryAfterSeconds) }), fields: [] }
    case 'busy':
      return { text: texts.show('busy', { when: inAWhile(language, problem.retryAfterSeconds) }), fields: [] }
  }
}

function noAccount(
  texts: Translation,
  { provider, email }: Extract<SignInProblem, { readonly kind: 'no-account' }>,
): Markup {
  return email === undefined
    ? texts.show('noAccount', { provider: isolate(provider) })
    : texts.show('noAccountOf', { email: isolate(email), provider: isolate(provider) })
}

/** A problem of one field is shown below the field, and one of both or of neither above the form. */
function beside(complaint: Complaint | undefined, field: Field): Fragment {
  if (complaint?.fields.length !== 1 || !complaint.fields.includes(field)) return undefined
  return fieldProblem('problem', complaint.text)
}

function blame(complaint: Complaint | undefined, field: Field): Fragment {
  return complaint?.fields.includes(field) === true ? html` aria-invalid="true" aria-describedby="problem"` : undefined
}

/** The cursor is in the field with the problem, else in the first empty one. The password is never filled in again. */
function focus(page: SignInPage, complaint: Complaint | undefined, field: Field): Fragment {
  const [blamed, another] = complaint?.fields ?? []
  const first = page.email === '' ? 'email' : 'password'
  const next = blamed === undefined || another !== undefined ? first : blamed
  return next === field ? html` autofocus` : undefined
}
