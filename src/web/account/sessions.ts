import type { SessionsPage, SessionView } from '../../ports/pages/account.ts'
import { submitButton } from '../form-parts.ts'
import { tick } from '../icons.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, isolate, type Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout } from './frame.ts'

/** The browsers in which the user is signed in, each with a button that ends its session. */
export function sessionsPage(view: View, page: SessionsPage): Markup {
  const { texts } = view
  const { frame, sessions } = page
  const others = submitButton(texts.show('account.endOthers'), 'plain')
  return accountLayout(view, frame, 'sessions', {
    main: html`<p class="part">${texts.show('account.sessionsHint')}</p>
      <ul class="entries" role="list">
        ${sessions.map((session, index) => html`<li>${sessionEntry(view, page, session, index)}</li> `)}
      </ul>
      ${sessions.length < 2 ? undefined : accountForm(frame.pages.sessions, frame.csrf, { others: 'all' }, others)}`,
  })
}

function sessionEntry(view: View, { frame }: SessionsPage, session: SessionView, index: number): Markup {
  const { texts } = view
  const { hidden } = session
  return html`<h2 id="entry-${index}">${agentWords(view, session)}</h2>
    ${hidden === undefined ? html`<p class="trust">${tick}<span>${texts.show('account.thisBrowser')}</span></p>` : undefined}
    <p class="small muted">
      ${texts.show('account.seen', { started: ago(view, session.startedSecondsAgo), seen: ago(view, session.seenSecondsAgo) })}
    </p>
    <p class="small muted">${origin(view, session)}</p>
    ${hidden === undefined ? undefined : accountForm(frame.pages.sessions, frame.csrf, hidden, entryButton(index, texts.show('signOut')))}`
}

/** How the user signed in, and from where. */
function origin({ texts }: View, { methods, provider, network }: SessionView): readonly Fragment[] {
  const isSecondNamed = methods.some((method) => method === 'otp' || method === 'pop' || method === 'recovery')
  const named = methods.filter((method) => method !== 'mfa' || !isSecondNamed)
  const by = named.map((method) =>
    method === 'fed' && provider !== undefined
      ? texts.show('account.signedInAt', { provider: isolate(provider) })
      : texts.show(`account.signedInBy.${method}`),
  )
  const where =
    network?.kind === 'network'
      ? texts.show('account.fromNetwork', { network: network.name })
      : texts.show('account.fromThisComputer')
  return (network === undefined ? by : [...by, where]).flatMap((part, place) => (place === 0 ? [part] : [' · ', part]))
}

/** The browser in words. */
export function agentWords({ texts }: View, { agent }: Pick<SessionView, 'agent'>): string {
  if (agent === undefined) return texts.show('account.unknownBrowser')
  return agent.system === undefined
    ? agent.browser
    : texts.show('account.agent', { browser: agent.browser, system: agent.system })
}

/** A screen reader reads the button with the heading of its entry: "Remove Cursor". */
function entryButton(index: number, text: Markup): Fragment {
  return html`<div class="buttons">
    <button class="button" type="submit" id="button-${index}" aria-labelledby="button-${index} entry-${index}">
      ${text}
    </button>
  </div>`
}
