import type { ConnectedApp, ConnectedAppsPage, SessionsPage, SessionView } from '../../ports/account-pages.ts'
import { accountForm, accountLayout } from './account.ts'
import { clientName, destination } from '../client.ts'
import { submitButton } from '../form-parts.ts'
import { tick, warning } from '../icons.ts'
import type { View } from '../layout.ts'
import { code, html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'
import { ago, onDay } from '../spans.ts'

/** The apps that can use the account, each with a button that removes it. */
export function appsPage(view: View, page: ConnectedAppsPage): Markup {
  const texts = view.texts.account
  const { apps, frame, isCut } = page
  return accountLayout(view, frame, 'apps', {
    hasProblem: false,
    main:
      apps.length === 0
        ? html`<p class="part">${texts.noApps}</p>`
        : html`<p class="part">${texts.appsHint}</p>
            <ul class="entries" role="list">
              ${apps.map((app, index) => html`<li>${appEntry(view, page, app, index)}</li> `)}
            </ul>
            ${isCut ? html`<p class="small muted after">${texts.moreApps}</p>` : undefined}`,
  })
}

function appEntry(view: View, { frame }: ConnectedAppsPage, app: ConnectedApp, index: number): Markup {
  const texts = view.texts.account
  const { language } = view
  const organization =
    app.organization === undefined
      ? undefined
      : html`<p class="small muted">${texts.forOrganization(isolate(app.organization))}</p>`
  const { access } = app
  const allowed = ago(view, app.allowedSecondsAgo)
  const times =
    access === undefined
      ? texts.returns(allowed)
      : texts.used(allowed, ago(view, access.usedSecondsAgo), onDay(language, access.endsAt))
  return html`<h2 id="entry-${index}">${clientName(app, view.texts.namelessApp)}</h2>
    ${trust(view, app)} ${organization}
    <ul class="plain" role="list">
      ${app.identity.map((token) => html`<li>${view.texts.identityScopes[token]}</li> `)}
      ${app.permissions.map((permission) => html`<li>${isolate(permission)}</li> `)}
    </ul>
    ${app.resources.length === 0 ? undefined : html`<p class="small muted">${texts.on(html`${app.resources.map((one, place) => html`${place === 0 ? '' : ', '}${isolate(one)}`)}`)}</p>`}
    <p class="small muted">${times}</p>
    ${accountForm(frame.pages.apps, frame.csrf, app.hidden, entryButton(index, texts.remove))}`
}

/** The same marks as on the consent page, and where the app gets its answers. */
function trust(view: View, { trust: known, documentHost, destination: to }: ConnectedApp): Markup {
  const origin = documentHost === undefined ? to : ({ kind: 'host', host: documentHost } as const)
  const place = origin === undefined ? undefined : html` · ${destination(view, origin)}`
  switch (known.level) {
    case 'verified':
      return html`<p class="trust">
        ${tick}<span>${view.texts.verifiedBy(isolate(view.branding.name))}${place}</span>
      </p>`
    case 'known-domain':
      return html`<p class="trust">${tick}<span>${view.texts.from(code(known.host))}</span></p>`
    case 'unverified':
      return html`<p class="trust unverified">
        ${warning}<span><strong>${view.texts.unverified}</strong>${place}</span>
      </p>`
  }
}

/** The browsers in which the user is signed in, each with a button that ends its session. */
export function sessionsPage(view: View, page: SessionsPage): Markup {
  const texts = view.texts.account
  const { frame, sessions } = page
  const others = submitButton(texts.endOthers, 'plain')
  return accountLayout(view, frame, 'sessions', {
    hasProblem: false,
    main: html`<p class="part">${texts.sessionsHint}</p>
      <ul class="entries" role="list">
        ${sessions.map((session, index) => html`<li>${sessionEntry(view, page, session, index)}</li> `)}
      </ul>
      ${sessions.length < 2 ? undefined : accountForm(frame.pages.sessions, frame.csrf, { others: 'all' }, others)}`,
  })
}

function sessionEntry(view: View, { frame }: SessionsPage, session: SessionView, index: number): Markup {
  const texts = view.texts.account
  const { hidden, methods, network } = session
  const isSecondNamed = methods.some((method) => method === 'otp' || method === 'pop')
  const named = methods.filter((method) => method !== 'mfa' || !isSecondNamed)
  const by = [...named.map((method) => texts.signedInBy[method]), network === undefined ? [] : texts.from(network)]
  return html`<h2 id="entry-${index}">${agentWords(view, session)}</h2>
    ${hidden === undefined ? html`<p class="trust">${tick}<span>${texts.thisBrowser}</span></p>` : undefined}
    <p class="small muted">${texts.seen(ago(view, session.startedSecondsAgo), ago(view, session.seenSecondsAgo))}</p>
    <p class="small muted">${by.flat().join(' · ')}</p>
    ${hidden === undefined ? undefined : accountForm(frame.pages.sessions, frame.csrf, hidden, entryButton(index, view.texts.signOut))}`
}

function agentWords({ texts: { account: texts } }: View, { agent }: SessionView): string {
  if (agent === undefined) return texts.unknownBrowser
  return agent.system === undefined ? agent.browser : texts.agent(agent.browser, agent.system)
}

/** A screen reader reads the button with the heading of its entry: "Remove Cursor". */
function entryButton(index: number, text: string): Fragment {
  return html`<div class="buttons">
    <button class="button" type="submit" id="button-${index}" aria-labelledby="button-${index} entry-${index}">
      ${text}
    </button>
  </div>`
}
