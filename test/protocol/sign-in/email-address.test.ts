import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { normalizeEmail, normalizeEmailStart, showEmails } from '../../../src/protocol/sign-in/email-address.ts'

/** A text that a person types, the address that is stored, and the one that a person reads. */
const ADDRESSES: readonly (readonly [typed: string, stored: string, shown: string])[] = [
  ['Anna@Bücher.Example', 'anna@xn--bcher-kva.example', 'anna@bücher.example'],
  ['anna@XN--BCHER-KVA.example.', 'anna@xn--bcher-kva.example', 'anna@bücher.example'],
  ['anna@bu\u0308cher.example', 'anna@xn--bcher-kva.example', 'anna@bücher.example'],
  ['a@faß.de', 'a@xn--fa-hia.de', 'a@faß.de'],
  ['a@ΟΔΟΣ.ελ', 'a@xn--pxavbq.xn--qxam', 'a@οδοσ.ελ'],
  ['a@例え.jp', 'a@xn--r8jz45g.jp', 'a@例え.jp'],
  ['a@عربي.com', 'a@xn--ngbrx4e.com', 'a@عربي.com'],
  ['a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai', 'a@пример.рф'],
  ['anna@localhost', 'anna@localhost', 'anna@localhost'],
  // UTS #39 §5.2: letters that look like those of another script.
  ['a@аррӏе.com', 'a@xn--80ak6aa92e.com', 'a@xn--80ak6aa92e.com'],
  ['a@ɡoogle.com', 'a@xn--oogle-qmc.com', 'a@xn--oogle-qmc.com'],
  ['a@\u2603.net', 'a@xn--n3h.net', 'a@xn--n3h.net'],
  ['a@xn--a', 'a@xn--a', 'a@xn--a'],
]

for (const [typed, stored, shown] of ADDRESSES) {
  test(`UI-21: ${JSON.stringify(typed)} is stored as ${stored} and shown as ${shown}`, () => {
    assert.equal(normalizeEmail(typed), stored)
    assert.equal(normalizeEmail(stored), stored)
    assert.equal(showEmails(`Mail for <${stored}>, and no other.`), `Mail for <${shown}>, and no other.`)
    assert.equal(normalizeEmail(shown), stored)
  })
}

test('UI-21: a text with a delimiter or a label that UTS #46 refuses is no address', () => {
  for (const text of [
    'a@bü/x.de',
    'a@bü:80',
    'a@bü%2e.de',
    'a@b\u200dü.de',
    'a@bü.1',
    'a@.',
    'a@acme.test..',
    'a@acme.test\u3002\u3002',
    'a@acme..test',
    'a@b\u00fccher..example',
    'a@.acme.test',
    'a@',
    '@bü.de',
    `a@${'ü'.repeat(250)}.de`,
  ])
    assert.equal(normalizeEmail(text), '', text)
})

/** Text of what addresses are made of, and of what changes in another case, in NFKC or in ASCII. */
const TYPED = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'aH@..-\u3002\u0331\u030cJ\u03a3\u0130\u212a\u00df\u00ad\uff21 '),
      fc.string({ unit: 'grapheme' }),
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))

test('UI-21: an address in its one spelling stays as it is', () => {
  const isFixed = (text: string) => assert.equal(normalizeEmail(normalizeEmail(text)), normalizeEmail(text), text)
  for (const local of ['H\u0331', 'J\u030c', '\u0130', 'A\u03a3']) {
    assert.notEqual(normalizeEmail(`${local}@acme.test`), '')
    isFixed(`${local}@acme.test`)
  }
  fc.assert(
    fc.property(TYPED, TYPED, (local, domain) => isFixed(`a${local}@a${domain}`)),
    { numRuns: 2000 },
  )
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => isFixed(`${text}@acme.test`)))
})

test('the start of an address with a domain in Unicode finds the stored one', () => {
  const stored = 'anna@xn--bcher-kva.example'
  for (const start of ['An', 'anna@', 'anna@bü', 'Anna@BÜCHER', 'anna@bücher.', 'anna@bücher.ex', stored])
    assert.ok(stored.startsWith(normalizeEmailStart(start)), start)
  for (const start of ['anna@bücher.exx', 'anna@büx', 'bnna'])
    assert.ok(!stored.startsWith(normalizeEmailStart(start)), start)
})

test('no text but the domain of an address changes where it is shown', () => {
  for (const text of [
    'https://xn--bcher-kva.example/a',
    'xn--bcher-kva.example',
    '@xn--bcher-kva.example',
    'Me@HOME.',
    'a @ b',
  ])
    assert.equal(showEmails(text), text)
})
