import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { LOGO_BYTES } from '../../src/config/logo.ts'
import { mistakesOf } from './mistakes.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('UI-18: the content of the logo says what it is, and not its name', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'logo')
  const typeOf = (content: string | Buffer): string => {
    writeFileSync(file, content)
    const mistakes = mistakesOf({ GRANTOR_LOGO: file })
    return mistakes.length > 0 ? mistakes.join() : (readConfig({ GRANTOR_LOGO: file }).branding.logo?.mediaType ?? '')
  }
  for (const svg of [
    SVG,
    `\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg>\n${SVG}\n<!-- end -->\n`,
  ]) {
    assert.equal(typeOf(svg), 'image/svg+xml')
  }
  assert.equal(typeOf(PNG), 'image/png')
  for (const content of [
    '',
    'GIF89a',
    `<html>${SVG}</html>`,
    SVG.replace('http://www.w3.org/2000/svg', 'http://example.com/svg'),
    SVG.replace('</svg>', ''),
    `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`,
    Buffer.concat([Buffer.from(SVG), Buffer.from([0xff])]),
    PNG.subarray(0, -1),
    PNG.subarray(1),
    Buffer.concat([PNG, Buffer.from('<script>')]),
  ])
    assert.match(typeOf(content), /^GRANTOR_LOGO names .*, which is neither a PNG image nor an SVG document$/)
  for (const path of [join(folder, 'none.png'), folder]) {
    assert.match(mistakesOf({ GRANTOR_LOGO: path }).join(), /^GRANTOR_LOGO names .*, which cannot be read: [^]*$/)
  }
  const largest = SVG.replace('<path', `${' '.repeat(LOGO_BYTES - SVG.length)}<path`)
  assert.equal(typeOf(largest), 'image/svg+xml')
  assert.match(typeOf(`${largest} `), /has more than 65536 bytes/)
})
