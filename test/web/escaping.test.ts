import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHARACTER } from '../support/arbitrary-texts.ts'
import { createRenderer } from '../../src/web/render.ts'
import { branding, languages, sample, samples } from './samples.ts'

const renderer = createRenderer(branding, '/pictures/')
const everyPage = [...samples.values()].flatMap((page) => languages.map((language) => ({ page, language })))
const consent = sample('consent', 'consent')
const returned = sample('return invalid_scope', 'return')

test('hostile text in any field changes no page’s structure and leaves no dangerous character', () => {
  const payload = fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '</style><style>*{display:none}</style>',
    '</title></head><body>',
    '<!--',
    ']]>',
    '&lt;b&gt;',
    '\u202eevil\u2066',
    '`${alert(1)}`',
    '$&$1$`',
  )
  const hostile = fc.array(fc.oneof(payload, fc.string({ unit: CHARACTER, maxLength: 20 })), { maxLength: 5 })
  fc.assert(
    fc.property(fc.constantFrom(...everyPage), hostile, ({ page, language }, parts) => {
      const html = renderer.render(poison(page, parts.join('')), language)
      assert.equal(skeleton(html), skeleton(renderer.render(poison(page, ''), language)))
      // What a form returns unchanged is not shown.
      assert.doesNotMatch(html.replaceAll(/<input type="hidden"[^>]*>/g, ''), /[\p{Cs}\p{Bidi_Control}\u200b\u00ad]/u)
    }),
    { numRuns: 3000 },
  )
})

test('hostile branding is escaped as well', () => {
  const hostile = createRenderer({ ...branding, name: '<b>A</b>"\u202e' }, '/pictures/')
  assert.doesNotMatch(hostile.render(consent, 'en'), /<b>|\u202e/)
})

test('a page never links to a scheme that runs or embeds something', () => {
  for (const uri of [
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    ' data:text/html,x',
    'vbscript:x',
    'blob:x',
    'file:///',
  ]) {
    assert.throws(() => renderer.render({ ...returned, back: { kind: 'link', uri } }, 'en'))
    assert.throws(() => renderer.render({ kind: 'form-post', action: uri, fields: {} }, 'en'))
    assert.throws(() => createRenderer({ ...branding, termsUri: uri }, '/pictures/'))
  }
})

test('a client whose name no reader can see is shown as an app without a name', () => {
  for (const name of [
    undefined,
    '',
    ' \u3000',
    '\u200b',
    '\u202e\u2066',
    '\u2800\u3164',
    '\u200d\ufe0f',
    '\u0301',
    '\ufffd',
  ]) {
    const html = renderer.render({ ...consent, client: { ...consent.client, name } }, 'en')
    assert.match(html, /<h1>An app without a name wants/, JSON.stringify(name))
  }
  const shown = renderer.render({ ...consent, client: { ...consent.client, name: '\u202eA\u200b' } }, 'en')
  assert.match(shown, /<h1><bdi>\ufffdA\ufffd<\/bdi> wants/)
})

test("a client's text is always inside a bdi element", () => {
  const page = poison(consent, 'QQ')
  const body = renderer.render(page, 'en').replace(/^[^]*<body>/, '')
  const loose = body.replaceAll(/<bdi(?: lang="\w+")?>[^<]*<\/bdi>/g, '').replaceAll(/="[^"]*"/g, '')
  assert.doesNotMatch(loose, /QQ/)
})

/** Puts the text into every string of a page model, wherever the model has one. */
function poison<T>(value: T, text: string): T {
  if (Array.isArray(value)) return value.map((item) => poison(item, text)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => {
    if (typeof item !== 'string') return [key, poison(item, text)]
    if (['kind', 'lack', 'problem'].includes(key)) return [key, item]
    const isAddress = key === 'uri' || (key === 'action' && item.startsWith('https:'))
    return [key, isAddress ? `https://h.test/?${text}` : `x${text}`]
  })
  return Object.fromEntries(entries) as T
}

/** The tags of a document with their attributes' names, without any value or text. */
function skeleton(html: string): string {
  const body = html.replace(/<style>[^]*?<\/style>/, '<style></style>')
  return [...body.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '')).join('')
}
