import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseLanguage } from '../../src/base/language.ts'

const cases: readonly (readonly [
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
  expected: string,
  claim: string,
])[] = [
  [undefined, undefined, 'en', 'English without any preference'],
  ['', '', 'en', 'English when both are empty'],
  [undefined, 'de', 'de', 'the browser’s only language'],
  [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de', 'a region counts as its language'],
  [undefined, 'fr-CA, en;q=0.5', 'fr', 'Canadian French counts as French'],
  [undefined, 'es-419, en;q=0.5', 'es', 'Latin American Spanish counts as Spanish'],
  [undefined, 'DE-de', 'de', 'case does not matter'],
  [undefined, 'xx-FR, xx;q=0.9, de;q=0.7, en;q=0.8', 'en', 'the higher weight wins over the order'],
  [undefined, 'xx, de;q=0.5, en;q=0.5', 'de', 'equal weights keep the order'],
  [undefined, 'de;q=0, en;q=0.1', 'en', 'a refused language is not used'],
  [undefined, 'de;q=0', 'en', 'English even when the only other one is refused'],
  [undefined, 'de ; q=0.3 , en ; q=0.2', 'de', 'spaces around the parts are allowed'],
  [undefined, '*', 'en', 'a wildcard leaves the choice to the server'],
  [undefined, 'de;q=2, en;q=0.1', 'en', 'a malformed weight does not count'],
  [undefined, 'deutsch, ;;, ,,q=1', 'en', 'nonsense does not throw'],
  [undefined, `${'xx,'.repeat(5000)}de`, 'en', 'a very long header is not read to its end'],
  ['de', 'en', 'de', 'ui_locales comes before the browser'],
  ['xx-CA xx de en', 'en', 'de', 'the first supported tag of ui_locales'],
  ['de-CH-1996', 'en', 'de', 'a variant counts as its language'],
  ['xx yy', 'de', 'de', 'the browser decides when no tag of ui_locales is supported'],
  ['  en   de ', 'de', 'en', 'extra spaces are ignored'],
  ['den', 'en', 'en', 'a longer tag with the same beginning is another language'],
]

for (const [uiLocales, acceptLanguage, expected, claim] of cases) {
  test(`language: ${claim}`, () => {
    assert.equal(chooseLanguage(uiLocales, [], acceptLanguage), expected)
  })
}

const KEPT: readonly (readonly [
  uiLocales: string | undefined,
  kept: readonly string[],
  expected: string,
  claim: string,
])[] = [
  [undefined, ['fr'], 'fr', 'the language that the browser keeps comes before what it prefers'],
  ['es', ['fr'], 'es', 'ui_locales comes before the language that the browser keeps'],
  ['xx', ['fr'], 'fr', 'the browser’s language decides when no tag of ui_locales is supported'],
  [undefined, ['xx', 'fr'], 'fr', 'a value of another program of the host is passed over'],
  ...['', 'FR', 'fr-CA', 'fr,es', '__proto__', 'constructor', '"fr"', '%66r', 'fr\u0000', 'a-'.repeat(9000)].map(
    (hostile) =>
      [undefined, [hostile], 'de', `a kept language that no page has is ignored: ${hostile.slice(0, 20)}`] as const,
  ),
]

for (const [uiLocales, kept, expected, claim] of KEPT) {
  test(`language: ${claim}`, () => {
    assert.equal(chooseLanguage(uiLocales, kept, 'de'), expected)
  })
}
