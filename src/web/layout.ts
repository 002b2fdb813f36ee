import { LANGUAGES, type Language } from '../base/language.ts'
import type { Branding } from '../ports/pages/pages.ts'
import { nameOfLanguage } from '../texts/texts.ts'
import { initial } from './pictures.ts'
import { type Fragment, href, html, isolate, LANGUAGE_LINKS, type Markup } from './markup.ts'
import type { PlainTextId, Translation } from './texts.ts'

/** What every template gets in addition to its page model. */
export interface View {
  readonly branding: Branding
  readonly language: Language
  readonly texts: Translation
  readonly styleElement: Markup
  /** The path of the picture of the operator. */
  readonly picturePath: string
  readonly scripts: readonly { readonly element: Markup }[]
}

/** The parts of a page inside the layout that all pages share. */
export interface Content {
  /** A text without slots: a client's name must not appear in the title bar. */
  readonly title: PlainTextId
  /** Whether the page names a mistake, which its title then says, too. */
  readonly hasProblem?: boolean
  readonly main: Fragment
  /** What is above the content on a narrow screen, and beside it on a wide one. */
  readonly beside?: Markup
  /** Links at the end of the head. */
  readonly headLinks?: Fragment
  /** The address that the browser goes to at once. */
  readonly refresh?: string
}

/** The parameter, with its value, by which the browser keeps the language of the page. `ui_locales` alone may be what a client asks for. */
export const CHOSEN = ['keep', 'language'] as const

/** The address of a page that can be opened again by it. */
export interface LanguageLinks {
  readonly query: URLSearchParams
  /** The reader chose the language of this page by one of its links. */
  readonly isChosen: boolean
}

/** Renders a whole document: a card with the operator's name above the page's content, and the legal links below. */
export function layout(view: View, content: Content): Markup {
  const { branding, language, texts, styleElement, scripts } = view
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        ${content.refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${href(content.refresh)}" />`}
        <title>${texts.say('title', { heading: titleOf(texts, content), brand: branding.name })}</title>
        <link rel="icon" href="${view.picturePath}" />
        ${styleElement}
      </head>
      <body>
        <div class="${content.beside === undefined ? 'card' : 'card wide'}">
          <header class="brand">${mark(view)}${isolate(branding.name)}${content.headLinks}</header>
          ${content.beside}
          <main>${content.main}</main>
        </div>
        ${footer(view)} ${LANGUAGE_LINKS} ${scripts.map(({ element }) => element)}
      </body>
    </html> `
}

function titleOf(texts: Translation, { title, hasProblem = false }: Content): string {
  const heading = texts.say(title)
  return hasProblem ? texts.say('titleWithError', { title: heading }) : heading
}

function mark({ branding, picturePath }: View): Markup {
  return branding.logo === undefined
    ? html`<span class="mark" aria-hidden="true">${initial(branding.name)}</span>`
    : html`<img class="logo" src="${picturePath}" alt="" />`
}

function footer({ branding, texts }: View): Fragment {
  const { contact, termsUri, privacyUri } = branding
  if (contact === undefined && termsUri === undefined && privacyUri === undefined) return undefined
  const link = (uri: string | undefined, text: Markup): Fragment =>
    uri === undefined ? undefined : html`<a href="${href(uri)}">${text}</a>`
  return html`<footer aria-label="${texts.say('footer')}">
    ${link(contact, texts.show('contact'))}${link(termsUri, texts.show('terms'))}${link(privacyUri, texts.show('privacy'))}
  </footer>`
}

/** Links to the same page in each language, by the name that the language has for itself. */
export function languageLinks(
  { branding, language, texts }: Pick<View, 'branding' | 'language' | 'texts'>,
  { query }: LanguageLinks,
): Markup {
  const link = (to: Language): Markup => {
    const own = new URLSearchParams(query)
    own.set('ui_locales', to)
    own.set(...CHOSEN)
    const current = to === language ? html` aria-current="true"` : undefined
    return html`<a href="?${own.toString()}" lang="${to}" hreflang="${to}" ${current}
      >${nameOfLanguage(to, branding.texts)}</a
    >`
  }
  return html`<nav class="languages" aria-label="${texts.say('languages')}">${LANGUAGES.map(link)}</nav>`
}
