import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LANGUAGES } from '../../src/base/language.ts'
import { TEXTS_BYTES } from '../../src/config/texts.ts'
import { temporaryFolder } from '../support/server.ts'
import { mistakesOf } from './mistakes.ts'

/** Files of texts, each with what the server says about it when it refuses to start. */
const MISTAKES: readonly (readonly [content: string, mistakes: readonly string[]])[] = [
  ['', ['which cannot be read: Unexpected end of JSON input']],
  [
    '{"en": {"signIn": "Log in",}}',
    ['which cannot be read: Expected double-quoted property name in JSON at position 27 (line 1 column 28)'],
  ],
  ['[]', ['which is no JSON object of languages']],
  ['{"xx": {}}', [`whose language xx is not one of ${LANGUAGES.join(', ')}`]],
  ['{"__proto__": {}}', [`whose language __proto__ is not one of ${LANGUAGES.join(', ')}`]],
  ['{"en": "Log in"}', ['whose value of en is no object of texts']],
  ['{"en": {"signin": "Log in"}}', ['whose text en signin: there is no such text']],
  ['{"en": {"toString": "Log in"}}', ['whose text en toString: there is no such text']],
  ['{"en": {"__proto__": "Log in"}}', ['whose text en __proto__: there is no such text']],
  ['{"en": {"signIn": 1}}', ['whose text en signIn: the value is no text']],
  ['{"en": {"signIn": " "}}', ['whose text en signIn: the value is no text']],
  ['{"en": {"signIn": "Log\\nin"}}', ['whose text en signIn: the text has a line break or another control character']],
  [
    '{"en": {"mail.resetSubject": "Reset\u2028your password"}}',
    ['whose text en mail.resetSubject: the text has a line break or another control character'],
  ],
  [`{"en": {"signIn": "${'x'.repeat(2001)}"}}`, ['whose text en signIn: the text has more than 2000 characters']],
  ['{"de": {"continueTo": "zu {klient}"}}', ['whose text de continueTo: the text has no slot {klient}, only {client}']],
  ['{"de": {"continueTo": "zu {client"}}', ['whose text de continueTo: a brace begins or ends no slot']],
  ['{"en": {"signIn.one": "Log in"}}', ['whose text en signIn.one: the text has no such form in this language']],
  [
    '{"en": {"account.recoveryLeft.few": "{count} left"}}',
    ['whose text en account.recoveryLeft.few: the text has no such form in this language'],
  ],
  [
    '{"xx": {}, "en": {"a": "b", "signIn": "{x}"}}',
    [
      `whose language xx is not one of ${LANGUAGES.join(', ')}`,
      'whose text en a: there is no such text',
      'whose text en signIn: the text has no slot {x}',
    ],
  ],
  [' '.repeat(TEXTS_BYTES + 1), [`which has more than ${TEXTS_BYTES} bytes`]],
  ['\uFEFF{"en": {"signIn": "Log in", "account.recoveryLeft.one": "One code is left."}}', []],
  ['{}', []],
]

test('each mistake in a file of texts is named, with the other mistakes of the configuration', (t) => {
  const file = join(temporaryFolder(t), 'texts.json')
  for (const [content, reasons] of MISTAKES) {
    writeFileSync(file, content)
    const expected = reasons.map((reason) => `GRANTOR_TEXTS names ${file}, ${reason}`)
    assert.deepEqual(mistakesOf({ GRANTOR_TEXTS: file }), expected, content.slice(0, 80))
  }
  writeFileSync(file, '[]')
  assert.equal(mistakesOf({ GRANTOR_TEXTS: file, GRANTOR_LOGO: file, PORT: '-1' }).length, 3)
  for (const setting of ['GRANTOR_TEXTS', 'GRANTOR_LOGO'])
    assert.deepEqual(mistakesOf({ [setting]: '/dev/zero' }), [
      `${setting} names /dev/zero, which cannot be read: it is not a regular file`,
    ])
  assert.match(mistakesOf({ GRANTOR_TEXTS: `${file}.none` }).join(), /^GRANTOR_TEXTS names .*, which cannot be read: /)
})
