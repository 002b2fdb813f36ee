import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { textsModule } from '../../src/cli/docs/texts.ts'
import { TEXTS, LANGUAGES } from '../../src/texts/generated.ts'
import { cut, faultsOf } from '../../src/texts/texts.ts'
import { languages as complete } from '../web/samples.ts'

test('the list of languages and slots is that of the files of texts: npm run docs', () => {
  assert.equal(readFileSync('src/texts/generated.ts', 'utf8'), textsModule())
})

test('a text of each language has an id and the slots of the English one', () => {
  for (const language of LANGUAGES) {
    assert.deepEqual(Intl.getCanonicalLocales(language), [language])
    assert.deepEqual(faultsOf(language, TEXTS[language]), [], language)
    for (const [id, text] of Object.entries(TEXTS[language])) {
      const english = TEXTS.en[id]
      if (english !== undefined)
        assert.deepEqual(new Set(cut(text).slots), new Set(cut(english).slots), `${language} ${id}`)
    }
  }
})

test('English and German have all texts', () => {
  for (const language of complete) assert.deepEqual(Object.keys(TEXTS[language]), Object.keys(TEXTS.en), language)
})
