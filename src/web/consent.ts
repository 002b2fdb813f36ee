import type { Language } from '../base/language.ts'
import type { LocalizedText } from '../base/localized-text.ts'
import type { ScopeView } from '../ports/pages/parts.ts'
import type { ClientView, ConsentPage, ConsentProblem } from '../ports/pages/pages.ts'
import { isIdentityScope } from '../protocol/token/scope.ts'
import { accountDetail } from './account/frame.ts'
import { clientName, describedBy, destination, trustLine } from './client.ts'
import { deviceHead, ownDeviceField } from './device.ts'
import { stop, tick, warning } from './icons.ts'
import { layout, type View } from './layout.ts'
import { code, type Fragment, hiddenFields, html, isolate, localized, type Markup } from './markup.ts'
import { organizationFact, organizationField } from './organization.ts'

/** The consent page: the client, the permissions, where the answer goes, the account, and how to revoke the consent. */
export function consentPage(view: View, page: ConsentPage): Markup {
  const { texts } = view
  const { device } = page
  return layout(view, {
    title: page.nothing !== undefined ? 'notForYou' : device === undefined ? 'consentTitle' : 'device.title',
    hasProblem: page.problem !== undefined,
    main: html`${device === undefined || page.nothing !== undefined ? head(view, page) : deviceHead(view, page, device)}
      ${permissions(view, page)}
      <dl class="facts">
        ${resources(view, page)} ${documentFact(view, page.client)} ${destinationFact(view, page.client)}
        <div>
          <dt>${texts.show('signedInAs')}</dt>
          ${account(view, page)}
          <dd class="action"><a href="${page.switchUri}">${texts.show('switchAccount')}</a></dd>
        </div>
        ${organizationFact(view, page)}
      </dl>
      ${page.client.destination.kind === 'this-computer' ? loopbackWarning(view, page.client) : undefined}
      <form method="post" action="${page.action}" id="${FORM}">
        ${hiddenFields(page.hidden)}
        ${page.nothing === undefined ? html`${organizationField(view, page)} ${ownDeviceField(view, page)}` : undefined}
        <div class="buttons">${page.nothing === undefined ? decisions(view, page) : backToApp(view)}</div>
      </form>
      ${page.nothing === undefined ? takeBack(view, page) : undefined}`,
  })
}

function takeBack({ texts }: View, { appsUri }: ConsentPage): Markup {
  const connectedApps = html`<a class="inline within" href="${appsUri}">${texts.show('account.pages.apps')}</a>`
  return html`<p class="small muted after">${texts.show('takeBack', { connectedApps })}</p>`
}

function decisions({ texts }: View, { device }: ConsentPage): Markup {
  return html`<button class="button" type="submit" name="decision" value="deny" formnovalidate>
      ${texts.show('deny')}
    </button>
    <button class="button main" type="submit" name="decision" value="allow">
      ${texts.show(device === undefined ? 'allow' : 'device.connect')}
    </button>`
}

/** Nothing can be allowed: the client gets the error once the user has read why. */
function backToApp({ texts }: View): Markup {
  return html`<button class="button main" type="submit" name="decision" value="deny" formnovalidate>
    ${texts.show('returnToApp')}
  </button>`
}

function notAllowed(view: View, { client, nothing = [] }: ConsentPage): Markup {
  const { texts } = view
  const said = nothing.map((sentence) => html`<p class="lead">${isolate(sentence)}</p>`)
  return html`<h1>
      ${texts.show('notAllowedHeading', { client: clientName(view, client, texts.show('namelessApp')) })}
    </h1>
    ${trustLine(view, client)} ${said}
    <p class="small muted lead">${texts.show('notAllowedText')}</p>`
}

function head(view: View, page: ConsentPage): Markup {
  const { client, nothing } = page
  const { texts } = view
  if (nothing !== undefined) return notAllowed(view, page)
  return html`<h1>${texts.show('consentHeading', { client: clientName(view, client, texts.show('namelessApp')) })}</h1>
    ${trustLine(view, client)}
    ${client.trust.level === 'verified' ? undefined : html`<p class="small muted lead">${texts.show('onlyIfStarted')}</p>`}`
}

/** What the token permits: its scopes, and full access to each API that has no scopes. */
function permissions(
  { texts, language }: View,
  { scopes, resources: apis, nothing, problem, setUpUri }: ConsentPage,
): Fragment {
  if (nothing !== undefined && scopes.length === 0) return undefined
  const unlimited = nothing === undefined ? apis.filter(({ isLimited }) => !isLimited) : []
  if (scopes.length === 0 && unlimited.length === 0) return html`<p class="part">${texts.show('noScope')}</p>`
  const list =
    scopes.length === 0
      ? undefined
      : html`<section class="part" aria-labelledby="permissions">
          <h2 id="permissions">${texts.show(nothing === undefined ? 'ableTo' : 'askedFor')}</h2>
          <ul class="scopes" role="list">
            ${scopes.map((scope) => html`<li>${permission({ texts, language }, scope)}</li> `)}
          </ul>
          ${scopes.some(({ box }) => typeof box === 'object' && box.kind === undefined) ? leaveOut({ texts }, problem) : undefined}
          ${setUpUri === undefined ? undefined : setUp({ texts }, setUpUri)}
        </section>`
  return [
    list,
    ...unlimited.map(
      ({ name, identifier }) =>
        html`<p class="part">${texts.show('noLimit', { api: localized(name ?? identifier, language) })}</p>`,
    ),
  ]
}

/** A permission that the user may leave out has a box, which belongs to the form below. */
function permission(view: Pick<View, 'texts' | 'language'>, { name, sentences, box }: ScopeView): Markup {
  const { texts } = view
  const text = scopeText(view, { name, sentences })
  if (box === 'withheld' || box === 'declined')
    return html`<span class="fixed withheld"
      >${stop}<span>${text}<span class="line small">${texts.show(`scopeNeedsStep.${box}`)}</span></span></span
    >`
  if (typeof box === 'object' && box.kind === 'ruled')
    return html`<span class="fixed withheld"
      >${stop}<span
        >${text}<span class="line small"
          >${texts.show('notForYou')} ${box.sentence === undefined ? undefined : isolate(box.sentence)}</span
        ></span
      ></span
    >`
  if (box === undefined) return html`<span class="fixed">${tick}${text}</span>`
  const checked = box.isChecked ? html` checked` : undefined
  return html`<label class="choice">
    <input type="checkbox" form="${FORM}" name="${box.name}" value="on" ${checked} />
    <span class="box" aria-hidden="true">${tick}</span>${text}
  </label>`
}

/** What a scope permits, a line for each API. */
export function scopeText(
  { texts, language }: Pick<View, 'texts' | 'language'>,
  { name, sentences }: Pick<ScopeView, 'name' | 'sentences'>,
): Markup {
  const lines = isIdentityScope(name) ? [texts.show(`identityScopes.${name}`)] : linesOf(name, sentences, language)
  return html`<span>${lines.map((line) => html`<span class="line">${line}</span>`)}</span>`
}

function linesOf(name: string, sentences: readonly LocalizedText[], language: Language): readonly Fragment[] {
  return sentences.length === 0 ? [code(name)] : sentences.map((sentence) => localized(sentence, language))
}

/** The way to the second factor that a withheld permission needs. */
function setUp({ texts }: Pick<View, 'texts'>, uri: string): Markup {
  return html`<p class="small muted after">${texts.show('setUpLater')}</p>
    <p class="buttons"><a class="button" href="${uri}">${texts.show('setUpNow')}</a></p>`
}

function leaveOut({ texts }: Pick<View, 'texts'>, problem: ConsentProblem | undefined): Markup {
  if (problem !== 'scope-missing') return html`<p class="small muted after">${texts.show('leaveOut')}</p>`
  return html`<p class="error" role="alert">${stop}<span>${texts.show('scopeMissing')}</span></p>`
}

const FORM = 'consent'

/** Without an API the permissions are about this server. Without permissions there is nothing to name. */
function resources({ branding, texts, language }: View, page: ConsentPage): Fragment {
  if (page.resources.length === 0 && page.scopes.length === 0) return undefined
  const named = page.resources.map(({ name, identifier }) => {
    return name === undefined
      ? html`<dd>${code(identifier)}</dd>`
      : html`<dd>${localized(name, language)} <span class="small muted">${code(identifier)}</span></dd>`
  })
  return html`<div>
    <dt>${texts.show('usedWith')}</dt>
    ${named.length === 0 ? html`<dd>${isolate(branding.name)}</dd>` : named}
  </div>`
}

function account({ texts }: View, { account: shown }: ConsentPage): Fragment {
  const detail = accountDetail(texts, shown)
  return detail === undefined
    ? html`<dd>${isolate(shown.name)}</dd>`
    : html`<dd>${isolate(shown.name)} <span class="muted">${detail}</span></dd>`
}

function documentFact({ texts }: View, client: ClientView): Markup | undefined {
  const site = describedBy(client)
  if (site === undefined) return undefined
  return html`<div>
    <dt>${texts.show('describedBy')}</dt>
    <dd>${site}</dd>
  </div>`
}

function destinationFact(view: View, { destination: to }: ClientView): Fragment {
  if (to.kind === 'device') return undefined
  return html`<div>
    <dt>${view.texts.show('sendsYouTo')}</dt>
    <dd>${destination(view, to)}</dd>
  </div>`
}

/** MCP, "Client ID Metadata Documents": the document of another client proves nothing about a program on the user's computer. */
function loopbackWarning({ texts }: View, client: ClientView): Markup {
  const site = describedBy(client)
  const impostor = site === undefined ? undefined : html`${texts.show('anyProgram', { site })} `
  return html`<p class="notice">${warning}<span>${impostor}${texts.show('loopbackWarning')}</span></p>`
}
