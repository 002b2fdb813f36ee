import type { ProductView, RedirectDestination } from '../ports/pages/parts.ts'
import type { ClientView } from '../ports/pages/pages.ts'
import { textIn } from '../base/localized-text.ts'
import { tick, warning } from './icons.ts'
import type { View } from './layout.ts'
import { code, href, html, isolate, type Markup } from './markup.ts'
import { ago } from './spans.ts'
import { visible } from './visible.ts'

/** A longer name is cut, so that it cannot push the warnings below it out of sight. */
const maxNameLength = 100

/** A character that a reader sees and that does not need another one before it. U+FFFD is a replaced one. */
const seen = /[^\p{M}\s\u{fffd}]/u

/** The client's name for use in a sentence, or `nameless` for a client without a name, or with one that a reader cannot see. */
export function clientName({ language }: View, client: Pick<ClientView, 'name'>, nameless: Markup): Markup {
  const { text, lang } = textIn(client.name ?? '', language)
  const name = visible(text).trim()
  if (!seen.test(name)) return nameless
  const characters = [...name]
  if (characters.length <= maxNameLength) return isolate(characters.join(''), lang)
  return isolate(`${characters.slice(0, maxNameLength).join('')}…`, lang)
}

/** The product to which a page leads its reader: that of the client, otherwise that of the operator. undefined: there is none. */
export function productOf(
  view: View,
  product: ProductView | undefined,
): { readonly uri: string; readonly name: Markup } | undefined {
  const { branding, texts } = view
  if (product !== undefined)
    return { uri: href(product.uri), name: clientName(view, product, texts.show('namelessAppInside')) }
  const { productUri: uri } = branding
  return uri === undefined ? undefined : { uri: href(uri), name: isolate(branding.name) }
}

/** States what the operator knows about the client and, if nothing, how long ago it was registered. */
export function trustLine(view: View, client: ClientView): Markup {
  const { branding, texts } = view
  switch (client.trust.level) {
    case 'verified':
      return html`<p class="trust">
        ${tick}<span>${texts.show('verifiedBy', { brand: isolate(branding.name) })}</span>
      </p>`
    case 'known-domain':
      return html`<p class="trust">${tick}<span>${texts.show('fromHost', { host: code(client.trust.host) })}</span></p>`
    case 'unverified':
      return unverifiedLine(view, client)
  }
}

function unverifiedLine(view: View, client: ClientView): Markup {
  const { texts } = view
  const since = ago(view, client.ageSeconds)
  const age = texts.show(client.documentHost === undefined ? 'registered' : 'firstSeen', { ago: since })
  return html`<p class="trust unverified">
    ${warning}<span><strong>${texts.show('unverified')}</strong> · ${age}</span>
  </p>`
}

/** The host that describes the client, unless the browser is sent to the same host. */
export function describedBy({ documentHost, destination: to }: ClientView): Markup | undefined {
  return documentHost === undefined || (to.kind === 'host' && to.host === documentHost) ? undefined : code(documentHost)
}

/** The whole address to which the browser is sent after the user has decided, after the word "to". */
export function destination(view: View, to: RedirectDestination): Markup {
  return placeOf(view, to, { computer: 'thisComputer', app: 'appLinks' })
}

/** The same place by itself: German has another case then. */
export function place(view: View, at: RedirectDestination): Markup {
  return placeOf(view, at, { computer: 'thisComputerAlone', app: 'appLinksAlone' })
}

interface PlaceTexts {
  readonly computer: 'thisComputer' | 'thisComputerAlone'
  readonly app: 'appLinks' | 'appLinksAlone'
}

function placeOf({ texts }: View, at: RedirectDestination, { computer, app }: PlaceTexts): Markup {
  switch (at.kind) {
    case 'host':
      return code(at.host)
    case 'this-computer':
      return html`${texts.show(computer)} <span class="small muted">${code(at.host)}</span>`
    case 'app':
      return texts.show(app, { scheme: code(`${at.scheme}:`) })
  }
}
