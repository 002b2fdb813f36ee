import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode, isMediaType, parseForm } from '../../src/base/message.ts'

test('RFC 6749 §3.1: a parameter without a value counts as omitted', () => {
  const form = parseForm('a=&b&c=1&=x&&d=2')
  assert.ok(form)
  assert.equal(form.get('a'), undefined)
  assert.equal(form.get('b'), undefined)
  assert.equal(form.get('c'), '1')
  assert.equal(form.get('d'), '2')
  assert.deepEqual(form.all('a'), [])
  assert.equal(form.get('missing'), undefined)
})

test('RFC 6749 §3.1: repeated names are reported in the order of their first occurrence', () => {
  const form = parseForm('b=1&a=1&c=3&a=2&b=&b=2&%61=4')
  assert.deepEqual(form?.repeated, ['b', 'a'])
  assert.deepEqual(form.all('a'), ['1', '2', '4'])
  assert.deepEqual(parseForm('a=1&b=1')?.repeated, [])
})

test('NET-12: names of prototype members are ordinary parameter names', () => {
  const form = parseForm('__proto__=1&constructor=2&__proto__%5Bx%5D=3')
  assert.equal(form?.get('__proto__'), '1')
  assert.equal(form.get('constructor'), '2')
  assert.equal(form.get('toString'), undefined)
  assert.equal(({} as { x?: unknown }).x, undefined)
})

test('RFC 6749 appendix B: plus signs, percent-escapes and UTF-8 of a form are decoded once', () => {
  const form = parseForm('a=x+y%2B%20%C3%A4&%62=%2525&c=1=2')
  assert.equal(form?.get('a'), 'x y+ ä')
  assert.equal(form.get('b'), '%25')
  assert.equal(form.get('c'), '1=2')
})

test('TOK-02: a form with a broken percent-escape or invalid UTF-8 is refused', () => {
  for (const text of ['a=%', 'a=%2', 'a=%zz', '%=1', 'a=%ff', 'a=%C3', 'a=1&b=%E0%80%80'])
    assert.equal(parseForm(text), undefined, text)
})

test('TOK-15: a form may have a hundred parameters, and one more is refused', () => {
  const names = Array.from({ length: 101 }, (_, index) => `p${index}=1`)
  assert.equal(parseForm(names.slice(0, 100).join('&'))?.names.length, 100)
  assert.equal(parseForm(names.join('&')), undefined)
  assert.equal(parseForm('&'.repeat(10_000)), undefined)
})

test('RFC 6749 appendix B: decoding returns every encoded text', () => {
  const pairs = fc.uniqueArray(
    fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme', minLength: 1 })),
    {
      selector: ([name]) => name,
      maxLength: 20,
    },
  )
  const property = fc.property(pairs, (sent) => {
    const form = parseForm(new URLSearchParams(sent).toString())
    assert.ok(form)
    for (const [name, value] of sent) assert.equal(form.get(name), value)
    assert.deepEqual(form.repeated, [])
  })
  fc.assert(property)
  fc.assert(fc.property(fc.string(), (text) => assert.equal(decode(encodeURIComponent(text)), text)))
})

test('RFC 9110 §8.3.1: a media type is read by its grammar', () => {
  const type = 'application/json'
  for (const header of [
    type,
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json; charset="\\u\\t\\f-8"',
    'application/json; charset=ISO-8859-1',
    'application/json; charset=us-ascii',
    'application/json; charset=utf8',
    'application/json; CharSet=Windows-1252',
    'application/json;',
    'application/json;; charset=utf-8 ; ',
    'application/json\t;\tcharset=utf-8',
    'application/json; x=1',
    'application/json; x="a;charset=utf-16, \\""; y=2; charset=utf-8',
    `application/json; x="${'a\\"'.repeat(5000)}"`,
  ])
    assert.ok(isMediaType(header, type), header)
})

test('REG-25: a media type that two parsers could read differently does not match', () => {
  const type = 'application/json'
  for (const header of [
    undefined,
    '',
    ' application/json',
    'application/json\ta',
    'application/json garbage',
    'application/json, text/plain',
    'application/json,application/json',
    'application/jsonx',
    'application/json+x',
    'application/x-json',
    'application /json',
    'application/',
    'text/plain',
    'text/plain; application/json',
    'text/json',
    // A reader that knows these charsets finds other characters in the same bytes.
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/json; charset=ibm037',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset=utf-8; CHARSET=utf-8',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8"',
    'application/json; charset = utf-8',
    "application/json; charset='utf-8'",
    'application/json; charset=utf-8, text/plain',
    'application/json; charset',
    'application/json\u00a0',
    `application/json${'; '.repeat(5000)}=`,
  ])
    assert.ok(!isMediaType(header, type), JSON.stringify(header))
})
