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

test('each language of the samples has all texts, in the order of the English ones', () => {
  for (const language of complete) assert.deepEqual(Object.keys(TEXTS[language]), Object.keys(TEXTS.en), language)
})

/** Marks that need a space before them, and within quotation marks, that begins no line. */
const FRENCH_MARK = /[^\u202f][?!;:»]|«[^\u202f]/
const SPANISH_QUESTION = /^[^¿?¡!]*(?:[¿¡][^¿?¡!]*[?!][^¿?¡!]*)*$/

test('French has a narrow no-break space before ? ! ; : and within « », and Spanish begins what it ends with ? and !', () => {
  assert.ok(['Oublié ?', 'Oublié?', '«Oublié\u202f»'].every((text) => FRENCH_MARK.test(text)))
  assert.ok(['Qué?', '¿Qué', '¡Qué!!'].every((text) => !SPANISH_QUESTION.test(text)))
  for (const [id, text] of Object.entries(TEXTS.fr)) assert.doesNotMatch(text, FRENCH_MARK, id)
  for (const [id, text] of Object.entries(TEXTS.es)) assert.match(text, SPANISH_QUESTION, id)
})
