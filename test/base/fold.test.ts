import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fold, gramsOf, hasWords, isLongWord, wordsOf } from '../../src/base/fold.ts'

const FOLDED: readonly (readonly [text: string, folded: string])[] = [
  ['Müller', 'muller'],
  ['Mu\u0308ller', 'muller'],
  ['STRASSE', 'strasse'],
  ['Straße', 'strasse'],
  ['Łukasz Żółć', 'lukasz zolc'],
  ['Søren Ærø', 'soren aero'],
  ['Þórður', 'thordur'],
  ['İstanbul Iğdır', 'istanbul igdir'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδός', 'οδοσ'],
  ['ﬁlm', 'film'],
  ['Ａｄａ', 'ada'],
  ['田中太郎', '田中太郎'],
  ['👩‍🚀', '👩‍🚀'],
  ['%_\\*"\'()^', '%_\\*"\'()^'],
]

test('a text is folded to lower case, without marks, and with the letters of other keyboards', () => {
  for (const [text, folded] of FOLDED) assert.equal(fold(text), folded)
})

test('a folded text stays as it is, and its words are those of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(fold(fold(text)), fold(text))
      assert.deepEqual(wordsOf(fold(text)), wordsOf(text))
    }),
  )
})

test('words are separated by spaces, controls and halves of characters, and each is named once', () => {
  assert.deepEqual(wordsOf(' Ada\u0000 \u200bÅda\nBoole\ud800x ada'), ['ada', 'boole', 'x'])
  assert.deepEqual(wordsOf(' \u0000\ud800 '), [])
})

test('a word is long by its letters, not by its halves of characters', () => {
  assert.deepEqual(['ab', 'abc', '👩', '👩👩', '👩👩👩'].map(isLongWord), [false, true, false, false, true])
})

test('what has a word has all its numbers', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 })
  fc.assert(
    fc.property(text, fc.nat(30), fc.nat(30), (whole, start, length) => {
      const words = wordsOf([...fold(whole)].slice(start, start + length).join(''))
      assert.ok(hasWords(words, whole))
      const grams = new Set(gramsOf(wordsOf(whole)))
      assert.ok(gramsOf(words).every((gram) => grams.has(gram)))
    }),
  )
})

test('all words must be there, in any order and in any of the texts', () => {
  const user = ['Greta Wagner', 'greta@globex.test'] as const
  for (const text of ['glob greta', 'WAG ner', 'er gre', 'globex.test', '']) assert.ok(hasWords(wordsOf(text), ...user))
  for (const text of ['greta weber', 'greta globex.text']) assert.ok(!hasWords(wordsOf(text), ...user))
  assert.ok(!hasWords(['a'], undefined))
})
