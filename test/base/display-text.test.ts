import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDisplayText } from '../../src/base/display-text.ts'
import { visible } from '../../src/web/visible.ts'

/** Invisible alone, and needed between or after others. */
const JOINING = /\u200c|\u200d|[\ufe00-\ufe0f]/

test('a name with any character that a page would replace is rejected, and with any other it is kept', () => {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const name = `a${String.fromCodePoint(point)}b`
    if (JOINING.test(name)) continue
    assert.equal(parseDisplayText(name), visible(name) === name ? name : undefined, `U+${point.toString(16)}`)
  }
})

test('a name that no reader can see is rejected', () => {
  for (const name of ['', ' ', '\u3000', '\u200b', '\u200d', '\u200c\ufe0f', '\u2800', '\u3164\uffa0'])
    assert.equal(parseDisplayText(name), undefined, JSON.stringify(name))
})

test('a name of any script is kept, without the spaces around it', () => {
  for (const name of ['Ada', 'Größe', 'می\u200cخواهم', 'क्\u200dष', '日本語アプリ', '👩\u200d💻', '❤\ufe0f'])
    assert.equal(parseDisplayText(` ${name} `), name)
})
