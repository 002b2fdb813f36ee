import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Language } from '../../src/base/language.ts'
import {
  allTexts,
  localizedText,
  textIn,
  type LocalizedText,
  type TextsByLanguage,
} from '../../src/base/localized-text.ts'

const shown: readonly (readonly [
  text: LocalizedText,
  language: Language,
  expected: string,
  lang: Language | undefined,
  claim: string,
])[] = [
  ['Read', 'de', 'Read', undefined, 'a plain text is shown in each language, which it does not name'],
  [{ en: 'Read', de: 'Lesen' }, 'de', 'Lesen', undefined, 'the text of the page’s language'],
  [{ en: 'Read' }, 'de', 'Read', 'en', 'English where the language is missing, and says so'],
  [{ de: 'Lesen' }, 'en', 'Lesen', 'de', 'any text rather than none'],
  [{ default: 'Lire', en: 'Read' }, 'de', 'Lire', undefined, 'the default comes before English'],
  [{ default: 'Lire', en: 'Read' }, 'en', 'Read', undefined, 'the text of the language comes before the default'],
]

test('a text is shown in the language of the page, else as the default, else in English', () => {
  for (const [text, language, expected, lang, claim] of shown)
    assert.deepEqual(textIn(text, language), { text: expected, lang }, claim)
})

const forms: readonly (readonly [
  texts: Parameters<typeof localizedText>[0],
  expected: string | TextsByLanguage | undefined,
])[] = [
  [{}, undefined],
  [{ de: undefined }, undefined],
  [{ default: 'Read' }, 'Read'],
  [{ default: 'Read', de: undefined }, 'Read'],
  [{ en: 'Read' }, { en: 'Read' }],
  [
    { de: 'Lesen', en: 'Read', default: 'Lire' },
    { default: 'Lire', en: 'Read', de: 'Lesen' },
  ],
]

test('equal texts have one form, whose languages have one order', () => {
  for (const [texts, expected] of forms) assert.equal(JSON.stringify(localizedText(texts)), JSON.stringify(expected))
})

test('all texts are those of every language', () => {
  assert.deepEqual(allTexts('Read'), ['Read'])
  assert.deepEqual(allTexts({ default: 'Lire', de: 'Lesen' }), ['Lire', 'Lesen'])
})
