import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHARACTER } from '../support/arbitrary-texts.ts'
import { visible } from '../../src/web/visible.ts'

test('characters that rearrange or hide text are replaced by U+FFFD', () => {
  const harmful = [
    ...'\u0000\u0008\u001b\u007f\u0085',
    ...'\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c',
    ...'\u200b\u2060\u2061\ufeff\u00ad\u034f\u180e\u115f\u1160\u3164\uffa0\u2800\ufff9\ue000',
    '\u{e0041}',
    '\u{1d173}',
    '\u{f0000}',
    '\ud800',
    '\u2028',
  ]
  for (const character of harmful) {
    const shown = visible(`a${character}b`)
    assert.ok(shown === 'a\ufffdb' || shown === 'a b', `U+${character.codePointAt(0)?.toString(16)}: ${shown}`)
  }
})

test('no harmful character passes through in any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTER, maxLength: 200 }), (text) => {
      assert.doesNotMatch(visible(text), /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]|\s{2}|\p{M}{5}/u)
    }),
    { numRuns: 2000 },
  )
})

test('ordinary text of many scripts is unchanged', () => {
  const ordinary = [
    'Cursor',
    'Größe & Ähnliches <3',
    'مرحبا بالعالم',
    'می‌خواهم', // a Persian word with the joiner that it needs
    'क्‍ष हिन्दी',
    'שָׁלוֹם',
    '日本語アプリ',
    'Zażółć gęślą jaźń',
    '👩‍💻 dev ❤️ 👍🏽 👨‍👩‍👧',
  ]
  for (const text of ordinary) assert.equal(visible(text), text)
})

test('a joiner that joins nothing is replaced', () => {
  assert.equal(visible('pay\u200dpal\u200c'), 'pay\ufffdpal\ufffd')
})

test('runs of spaces become one space, so that nothing is pushed out of sight', () => {
  assert.equal(visible('a  b\u3000\u2003c\n\n\td'), 'a b c d')
})

test('combining marks on one letter are limited to four', () => {
  assert.equal(visible(`e${'\u0301'.repeat(50)}`), `e${'\u0301'.repeat(4)}`)
})

test('applying visible() twice gives the same text as once', () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTER }), (text) => {
      assert.equal(visible(visible(text)), visible(text))
    }),
  )
})
