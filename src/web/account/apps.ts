import type { ConnectedApp, ConnectedAppsPage, RemoveAppPage } from '../../ports/pages/account.ts'
import { clientName, destination } from '../client.ts'
import { tick, warning } from '../icons.ts'
import type { View } from '../layout.ts'
import { code, html, isolate } from '../markup.ts'
import type { Markup } from '../markup.ts'
import { ago, onDay } from '../spans.ts'
import { accountForm, accountLayout, stepButtons } from './frame.ts'

/** The apps that can use the account, each with a link to the page that removes it. */
export function appsPage(view: View, page: ConnectedAppsPage): Markup {
  const texts = view.texts.account
  const { apps, frame, isCut } = page
  return accountLayout(view, frame, 'apps', {
    main:
      apps.length === 0
        ? html`<p class="part">${texts.noApps}</p>`
        : html`<p class="part">${texts.appsHint}</p>
            <ul class="entries" role="list">
              ${apps.map((app, index) => html`<li>${appEntry(view, app, index)}</li> `)}
            </ul>
            ${isCut ? html`<p class="small muted after">${texts.moreApps}</p>` : undefined}`,
  })
}

function appEntry(view: View, app: ConnectedApp, index: number): Markup {
  const texts = view.texts.account
  return html`<h2 id="entry-${index}">${clientName(app, view.texts.namelessApp)}</h2>
    ${appFacts(view, app)}
    <p class="step">
      <a class="button" href="${app.removeUri}" id="remove-${index}" aria-labelledby="remove-${index} entry-${index}"
        >${texts.remove}</a
      >
    </p>`
}

/** The question before an app is removed. */
export function removeAppPage(view: View, { frame, app }: RemoveAppPage): Markup {
  const texts = view.texts.account
  const buttons = stepButtons(view, frame.pages.apps, texts.remove, 'danger')
  return accountLayout(view, frame, 'remove-app', {
    heading: texts.removeHeading(clientName(app, view.texts.namelessAppInside)),
    main: html`<p class="lead">${removeConsequence(view, app)}</p>
      <div class="part">${appFacts(view, app)}</div>
      ${accountForm(frame.pages['remove-app'], frame.csrf, app.hidden, buttons)}`,
  })
}

/** Whether the app has to ask before it gets access again. */
function removeConsequence({ texts: { account: texts } }: View, { assertedBy, isConsentImplied }: ConnectedApp) {
  if (assertedBy !== undefined) return texts.removeAssertedConsequence(isolate(assertedBy))
  return isConsentImplied ? texts.removeImpliedConsequence : texts.removeAppConsequence
}

/** What the user allowed the app, and when. */
function appFacts(view: View, app: ConnectedApp): Markup {
  const texts = view.texts.account
  const organization =
    app.organization === undefined
      ? undefined
      : html`<p class="small muted">${texts.forOrganization(isolate(app.organization))}</p>`
  const asserted =
    app.assertedBy === undefined
      ? undefined
      : html`<p class="small muted">${texts.assertedBy(isolate(app.assertedBy))}</p>`
  return html`${trust(view, app)} ${organization} ${asserted}
    <ul class="plain" role="list">
      ${app.identity.map((token) => html`<li>${view.texts.identityScopes[token]}</li> `)}
      ${app.permissions.map((permission) => html`<li>${isolate(permission)}</li> `)}
    </ul>
    ${app.resources.length === 0 ? undefined : html`<p class="small muted">${texts.on(html`${app.resources.map((one, place) => html`${place === 0 ? '' : ', '}${isolate(one)}`)}`)}</p>`}
    ${app.access.kind === 'tokens' && app.access.isPaused ? html`<p class="small">${texts.paused}</p>` : undefined}
    <p class="small muted">${times(view, app)}</p>`
}

function times(view: View, { allowedSecondsAgo, access }: ConnectedApp): string {
  const texts = view.texts.account
  const allowed = ago(view, allowedSecondsAgo)
  switch (access.kind) {
    case 'tokens':
      return texts.used(allowed, ago(view, access.usedSecondsAgo), onDay(view.language, access.endsAt))
    case 'device-waits':
      return texts.deviceWaits(allowed)
    case 'remembered':
      return texts.returns(allowed)
  }
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
