import type { SessionsPage, SessionView } from '../../ports/pages/account.ts'
import { submitButton } from '../form-parts.ts'
import { tick } from '../icons.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, isolate, type Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout } from './frame.ts'
import { fact, type Row, rowList } from './rows.ts'

/** The browsers in which the user is signed in, each with a button that ends its session. */
export function sessionsPage(view: View, page: SessionsPage): Markup {
  const { texts } = view
  const { frame, sessions } = page
  const others = submitButton(texts.show('account.endOthers'), 'plain')
  return accountLayout(view, frame, 'sessions', {
    main: html`<p class="lead">${texts.show('account.sessionsHint')}</p>
      ${rowList(sessions.map((session) => sessionRow(view, page, session)))}
      ${sessions.length < 2 ? undefined : accountForm(frame.pages.sessions, frame.csrf, { others: 'all' }, others)}`,
  })
}

function sessionRow(view: View, { frame }: SessionsPage, session: SessionView): Row {
  const { texts } = view
  const { hidden } = session
  const times = { started: ago(view, session.startedSecondsAgo), seen: ago(view, session.seenSecondsAgo) }
  return {
    heading: agentWords(view, session),
    facts: [
      hidden === undefined
        ? html`<p class="trust">${tick}<span>${texts.show('account.thisBrowser')}</span></p>`
        : undefined,
      fact(texts.show('account.seen', times)),
      fact(origin(view, session)),
    ],
    action:
      hidden === undefined
        ? undefined
        : { action: frame.pages.sessions, csrf: frame.csrf, hidden, text: texts.show('account.endSession') },
  }
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
