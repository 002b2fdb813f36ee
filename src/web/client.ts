import type { Destination } from '../ports/page-parts.ts'
import type { ClientView } from '../ports/pages.ts'
import { tick, warning } from './icons.ts'
import type { View } from './layout.ts'
import { html, isolate } from './markup.ts'
import type { Markup } from './markup.ts'
import { ago } from './spans.ts'

/** A longer name is cut, so that it cannot push the warnings below it out of sight. */
const maxNameLength = 100

/** The client's name for use in a sentence, or `nameless` for a client without a name. */
export function clientName(client: Pick<ClientView, 'name'>, nameless: string): Markup {
  const characters = [...(client.name ?? '').trim()]
  if (characters.length === 0) return html`${nameless}`
  if (characters.length <= maxNameLength) return isolate(characters.join(''))
  return isolate(`${characters.slice(0, maxNameLength).join('')}…`)
}

/** States what the operator knows about the client and, if nothing, how long ago it was registered. */
export function trustLine({ branding, language, texts }: View, client: ClientView): Markup {
  switch (client.trust.level) {
    case 'verified':
      return html`<p class="trust">${tick}<span>${texts.verifiedBy(isolate(branding.name))}</span></p>`
    case 'known-domain':
      return html`<p class="trust">${tick}<span>${texts.from(host(client.trust.host))}</span></p>`
    case 'unverified':
      return unverifiedLine({ language, texts }, client)
  }
}

function unverifiedLine({ language, texts }: Pick<View, 'language' | 'texts'>, client: ClientView): Markup {
  const since = ago(language, client.ageSeconds) ?? texts.momentsAgo
  const age = client.documentHost === undefined ? texts.registered(since) : texts.firstSeen(since)
  return html`<p class="trust unverified">
    ${warning}<span><strong>${texts.unverified}</strong> · ${age}</span>
  </p>`
}

/** The host that describes the client, unless the browser is sent to the same host. */
export function describedBy({ documentHost, destination: to }: ClientView): Markup | undefined {
  return documentHost === undefined || (to.kind === 'host' && to.host === documentHost) ? undefined : host(documentHost)
}

/** The whole address to which the browser is sent after the user has decided. */
export function destination({ texts }: View, to: Destination): Markup {
  switch (to.kind) {
    case 'host':
      return host(to.host)
    case 'this-computer':
      return html`${texts.thisComputer} <span class="small muted">${host(to.host)}</span>`
    case 'app':
      return texts.appLinks(host(`${to.scheme}:`))
  }
}

function host(text: string): Markup {
  return html`<code>${isolate(text)}</code>`
}
