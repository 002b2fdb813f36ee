import { readFileSync, statSync } from 'node:fs'
import { isObject } from '../base/json.ts'
import { LANGUAGES } from '../base/language.ts'
import { faultsOf, type TextChanges } from '../texts/texts.ts'

/** Half as much again as all texts of four languages have. */
export const TEXTS_BYTES = 256 * 1024

/** Reads the texts that replace those of the pages and mails, such as `{ "en": { "signIn": "Log in" } }`. */
export function readTexts(path: string): { readonly texts: TextChanges; readonly mistakes: readonly string[] } {
  const mistaken = (...reasons: readonly string[]) => ({
    texts: {},
    mistakes: reasons.map((reason) => `GRANTOR_TEXTS names ${path}, ${reason}`),
  })
  let content
  try {
    const file = statSync(path)
    // Reading a pipe or a device would never end.
    if (!file.isFile()) throw new Error('it is not a regular file')
    if (file.size > TEXTS_BYTES) return mistaken(`which has more than ${TEXTS_BYTES} bytes`)
    content = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as unknown
  } catch (cause) {
    return mistaken(`which cannot be read: ${(cause as Error).message}`)
  }
  if (!isObject(content)) return mistaken('which is no JSON object of languages')
  const reasons = Object.entries(content).flatMap(([language, texts]) => {
    if (!(LANGUAGES as readonly string[]).includes(language))
      return [`whose language ${language} is not one of ${LANGUAGES.join(', ')}`]
    if (!isObject(texts)) return [`whose value of ${language} is no object of texts`]
    return faultsOf(language, texts).map((fault) => `whose text ${language} ${fault}`)
  })
  return reasons.length > 0 ? mistaken(...reasons) : { texts: content, mistakes: [] }
}
