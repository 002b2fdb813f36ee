import type { Language } from '../ports/pages.ts'

const maxLength = 1000

/**
 * The language of the pages: the first that the client asked for in `ui_locales` (OpenID Connect Core §3.1.2.1) and we
 * speak, else the one the browser likes best (RFC 9110 §12.5.4), else English. Regions and scripts are not told apart.
 */
export function chooseLanguage(uiLocales: string | undefined, acceptLanguage: string | undefined): Language {
  const asked = (uiLocales ?? '').slice(0, maxLength).split(/\s+/)
  const liked = parseAcceptLanguage((acceptLanguage ?? '').slice(0, maxLength))
  return [...asked, ...liked].map(findLanguage).find((language) => language !== undefined) ?? 'en'
}

/** Language tags, best first; equals in the order given. Refused (q=0) and malformed ones are left out. */
function parseAcceptLanguage(header: string): readonly string[] {
  return header
    .split(',')
    .map(parseRange)
    .filter((range) => range.quality > 0)
    .toSorted((left, right) => right.quality - left.quality)
    .map((range) => range.tag)
}

function parseRange(text: string): { readonly tag: string; readonly quality: number } {
  const [tag = '', weight = 'q=1'] = text.split(';').map((part) => part.trim())
  const quality = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(weight)?.[1] ?? '0'
  return { tag, quality: Number(quality) }
}

function findLanguage(tag: string): Language | undefined {
  const primary = tag.split('-')[0]?.toLowerCase()
  return primary === 'en' || primary === 'de' ? primary : undefined
}
