import type { ConnectedApp, ConnectedAppsPage, RemoveAppPage, WithheldAccess } from '../../ports/pages/account.ts'
import { clientName, place } from '../client.ts'
import { stop, tick, warning } from '../icons.ts'
import type { View } from '../layout.ts'
import { code, html, isolate, localized, type Markup } from '../markup.ts'
import { ago, onDay } from '../spans.ts'
import { accountForm, accountLayout, stepButtons } from './frame.ts'
import { type Row, rowList } from './rows.ts'

/** The apps that can use the account, each with a link to the page that removes it. */
export function appsPage(view: View, page: ConnectedAppsPage): Markup {
  const { texts } = view
  const { apps, frame, isCut } = page
  return accountLayout(view, frame, 'apps', {
    main:
      apps.length === 0
        ? html`<p class="lead">${texts.show('account.noApps')}</p>`
        : html`<p class="lead">${texts.show('account.appsHint')}</p>
            ${rowList(apps.map((app) => appRow(view, app)))}
            ${isCut ? html`<p class="small muted after">${texts.show('account.moreApps')}</p>` : undefined}`,
  })
}

function appRow(view: View, app: ConnectedApp): Row {
  const { texts } = view
  return {
    heading: clientName(view, app, texts.show('namelessApp')),
    facts: appFacts(view, app),
    action: { uri: app.removeUri, text: texts.show('account.remove') },
  }
}

/** The question before an app is removed. */
export function removeAppPage(view: View, { frame, app }: RemoveAppPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.apps, texts.show('account.remove'), 'danger')
  return accountLayout(view, frame, 'remove-app', {
    heading: texts.show('account.removeHeading', { name: clientName(view, app, view.texts.show('namelessAppInside')) }),
    main: html`<p class="lead">${removeConsequence(view, app)}</p>
      <div class="part">${appFacts(view, app)}</div>
      ${accountForm(frame.pages['remove-app'], frame.csrf, app.hidden, buttons)}`,
  })
}

/** Whether the app has to ask before it gets access again. */
function removeConsequence({ texts }: View, { assertedBy, isConsentImplied }: ConnectedApp) {
  if (assertedBy !== undefined)
    return texts.show('account.removeAssertedConsequence', { provider: isolate(assertedBy) })
  return isConsentImplied ? texts.show('account.removeImpliedConsequence') : texts.show('account.removeAppConsequence')
}

/** What the user allowed the app, and when. */
function appFacts(view: View, app: ConnectedApp): Markup {
  const { texts } = view
  const organization =
    app.organization === undefined
      ? undefined
      : html`<p class="small muted">
          ${texts.show('account.forOrganization', { organization: isolate(app.organization) })}
        </p>`
  const asserted =
    app.assertedBy === undefined
      ? undefined
      : html`<p class="small muted">${texts.show('account.assertedBy', { provider: isolate(app.assertedBy) })}</p>`
  return html`${trust(view, app)} ${organization} ${asserted}
    <ul class="plain" role="list">
      ${app.identity.map((token) => html`<li>${view.texts.show(`identityScopes.${token}`)}</li> `)}
      ${app.permissions.map((permission) => html`<li>${localized(permission, view.language)}</li> `)}
      ${app.withheld.map((one) => html`<li>${notForUser(view, one)}</li> `)}
    </ul>
    ${app.resources.length === 0 ? undefined : html`<p class="small muted">${texts.show('account.on', { apis: html`${app.resources.map((one, index) => html`${index === 0 ? '' : ', '}${localized(one, view.language)}`)}` })}</p>`}
    ${app.access.kind === 'tokens' && app.access.isPaused ? html`<p class="small">${texts.show('account.paused')}</p>` : undefined}
    <p class="small muted">${times(view, app)}</p>`
}

/** As on the consent page. */
function notForUser(view: View, { identity, permissions, sentence }: WithheldAccess): Markup {
  const { texts, language } = view
  const lines = identity === undefined ? permissions : [texts.show(`identityScopes.${identity}`)]
  return html`<span class="fixed withheld"
    >${stop}<span
      >${lines.map((line) => html`<span class="line">${localized(line, language)}</span>`)}<span class="line small"
        >${texts.show('notForYou')} ${sentence === undefined ? undefined : isolate(sentence)}</span
      ></span
    ></span
  >`
}

function times(view: View, { allowedSecondsAgo, access }: ConnectedApp): string {
  const { texts } = view
  const allowed = ago(view, allowedSecondsAgo)
  switch (access.kind) {
    case 'tokens':
      return texts.show('account.used', {
        allowed,
        used: ago(view, access.usedSecondsAgo),
        end: onDay(view.language, access.endsAt),
      })
    case 'device-waits':
      return texts.show('account.deviceWaits', { allowed })
    case 'remembered':
      return texts.show('account.returns', { allowed })
  }
}

/** The same marks as on the consent page, and where the app gets its answers. */
function trust(view: View, { trust: known, documentHost, destination: to }: ConnectedApp): Markup {
  const origin = documentHost === undefined ? to : ({ kind: 'host', host: documentHost } as const)
  const from = origin === undefined ? undefined : html` · ${place(view, origin)}`
  switch (known.level) {
    case 'verified':
      return html`<p class="trust">
        ${tick}<span>${view.texts.show('verifiedBy', { brand: isolate(view.branding.name) })}${from}</span>
      </p>`
    case 'known-domain':
      return html`<p class="trust">${tick}<span>${view.texts.show('fromHost', { host: code(known.host) })}</span></p>`
    case 'unverified':
      return html`<p class="trust unverified">
        ${warning}<span><strong>${view.texts.show('unverified')}</strong>${from}</span>
      </p>`
  }
}
