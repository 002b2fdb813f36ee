import type { RedirectDestination } from '../ports/pages/parts.ts'
import type { ReturnPage, ReturnPath } from '../ports/pages/pages.ts'
import { clientName, destination, trustLine } from './client.ts'
import { developerNotes } from './developer-notes.ts'
import { layout, type View } from './layout.ts'
import { code, type Fragment, hiddenFields, href, html, type Markup } from './markup.ts'

/** A refused authorization request: the reason, the client, and a link that names its destination (RFC 9700 §4.11.2). */
export function returnPage(view: View, page: ReturnPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'returnTitle',
    main: html`<h1>
        ${texts.show('returnHeading', { client: clientName(view, page.client, texts.show('namelessApp')) })}
      </h1>
      ${trustLine(view, page.client)}
      <p class="part">${texts.show(`returnProblems.${page.problem}`)}</p>
      <p class="lead">${texts.show('returnOffer')}</p>
      ${leadsTo(view, page.client.destination)}
      <div class="buttons">${wayBack(page.back, offerReturn(view, page.client.destination))}</div>
      ${developerNotes(view, page.notes)}`,
  })
}

function wayBack(back: ReturnPath, text: Fragment): Markup {
  if (back.kind === 'link') return html`<a class="button" href="${href(back.uri)}">${text}</a>`
  return html`<form method="post" action="${href(back.action)}">
    ${hiddenFields(back.fields)}<button class="button" type="submit">${text}</button>
  </form>`
}

/** Names the destination when the text of the link does not. */
function leadsTo(view: View, to: RedirectDestination): Fragment {
  if (to.kind === 'host') return undefined
  return html`<dl class="facts">
    <div>
      <dt>${view.texts.show('leadsTo')}</dt>
      <dd>${destination(view, to)}</dd>
    </div>
  </dl>`
}

/** The text of a link or button that leads to a client. */
export function offerReturn({ texts }: View, to: RedirectDestination): Fragment {
  switch (to.kind) {
    case 'host':
      return html`<span>${texts.show('returnTo', { host: code(to.host) })}</span>`
    case 'this-computer':
      return texts.show('returnToComputer')
    case 'app':
      return texts.show('returnToApp')
  }
}
