import assert from 'node:assert/strict'
import { initial } from '../../src/web/pictures.ts'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from '../../src/ports/pages/pages.ts'
import { createRenderer } from '../../src/web/render.ts'
import { cursor } from './client-samples.ts'
import { branding, languages, sample, samples } from './samples.ts'

const renderer = createRenderer(branding, '/pictures/')
const everyPage = [...samples].flatMap(([name, page]) => languages.map((language) => ({ name, page, language })))

const consent = sample('consent', 'consent')
const signIn = sample('sign-in', 'sign-in')

/** The document without its head. The stylesheet would hide the relevant part of a failed assertion. */
function bodyOf(html: string): string {
  return html.slice(html.indexOf('<body>'))
}

/** The visible text of the body. */
function textOf(html: string): string {
  return bodyOf(html)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

test('every page in every language has one h1, a title, its language and a viewport', () => {
  for (const { name, page, language } of everyPage) {
    const html = renderer.render(page, language)
    assert.ok(html.startsWith('<!doctype html>'), name)
    assert.equal(html.match(/<h1>/g)?.length, 1, name)
    assert.match(html, /<title>[^<]+ · Acme Cloud<\/title>/, name)
    assert.match(html, new RegExp(`<html lang="${language}">`), name)
    assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1" \/>/, name)
  }
})

test('CSP Level 3 §2.3.1: the scripts of a page are those whose hashes its policy names, and are the same for all its requests', () => {
  const kinds = new Map<string, string | undefined>()
  for (const { page, language, name } of everyPage) {
    const html = renderer.render(page, language)
    const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text ?? '')
    const sources = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
    assert.equal(renderer.scriptSource(page), sources.length === 0 ? undefined : sources.join(' '), name)
    // A page of passkeys has one more.
    const kind = `${page.kind} ${scripts.length}`
    assert.equal(kinds.get(kind) ?? renderer.scriptSource(page), renderer.scriptSource(page), name)
    kinds.set(kind, renderer.scriptSource(page))
  }
  assert.deepEqual(
    [...kinds.keys()].filter((kind) => kind.startsWith('consent')),
    ['consent 0'],
  )
  assert.match(kinds.get('sign-in 1') ?? '', /^'sha256-/)
})

test('Form Post Response Mode §2: the form post page has a script that posts it, and a button', () => {
  const page = sample('form post', 'form-post')
  const html = renderer.render(page, 'de')
  assert.match(html, /<script>document\.forms\[0\]\.submit\(\)<\/script>/)
  assert.match(html, /<button[^>]* type="submit"/)
})

test('no page has a style attribute, an event handler or a remote asset', () => {
  for (const { name, page, language } of everyPage) {
    const whole = renderer.render(page, language)
    const html = whole.replaceAll(/<script>[^]*?<\/script>/g, '')
    assert.doesNotMatch(
      html,
      /<script|<img|<link (?!rel="icon" href="\/pictures\/[\w-]{22}" \/>)|<iframe|<object|<base|\sstyle=|\son\w+=|javascript:/i,
      name,
    )
    assert.equal(html.match(/<style/g)?.length, 1, name)
    // A file that the browser saves is in its link.
    const loading = html.replaceAll(/href="data:text\/plain;[^"]*" download="/g, '')
    const urls = [...loading.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, url]) => url ?? '')
    const given = [branding.contact, branding.termsUri, branding.privacyUri, destinationOf(page)]
    for (const url of urls)
      assert.ok(url.startsWith('/') || given.includes(url.replaceAll('&amp;', '&')), `${name}: ${url}`)
  }
})

test('CSP Level 3 §2.3.1: styleSource is the hash of the exact content of the style element', () => {
  const css = /<style>([^]*?)<\/style>/.exec(renderer.render({ kind: 'signed-out', back: undefined }, 'en'))?.[1]
  assert.ok(css !== undefined && css.length > 1000)
  assert.equal(renderer.styleSource, `'sha256-${createHash('sha256').update(css).digest('base64')}'`)
})

test('CIMD-06: the consent page shows the host of the document and the one it sends to, with a warning on this computer', () => {
  const text = textOf(renderer.render(sample('consent with a document', 'consent'), 'en'))
  for (const part of [
    'Claude Code wants to use your account',
    'Unverified · first used here 3 minutes ago',
    'Described by claude.ai',
    'It sends you to this computer 127.0.0.1:43110',
    'Any program on this computer can say that it is this app of claude.ai .',
    'never paste it anywhere',
  ])
    assert.ok(text.includes(part), `${part} was not in: ${text}`)
})

test('CIMD-06: where the document and the redirect have one host, the host is shown once', () => {
  const known = { ...consent, client: { ...consent.client, documentHost: 'app.example' } }
  const elsewhere = {
    ...known,
    client: { ...known.client, destination: { kind: 'host', host: 'app.example' } as const },
  }
  assert.doesNotMatch(textOf(renderer.render(elsewhere, 'en')), /Described by/)
  const other = { ...known, client: { ...known.client, destination: { kind: 'host', host: 'cb.example' } as const } }
  assert.match(textOf(renderer.render(other, 'en')), /Described by app\.example It sends you to cb\.example/)
})

test('UI-10: the consent page names the app, its age, its destination, the scopes and the account', () => {
  const text = textOf(renderer.render(consent, 'en'))
  for (const part of [
    'Cursor wants to use your account',
    'Unverified · registered 3 minutes ago',
    'Read your projects',
    'Start builds in your name',
    'Builds API',
    'https://builds.acme.test/mcp',
    '127.0.0.1:43110',
    'this computer',
    'never paste it anywhere or give it to anyone',
    'ada@acme.test',
    'You can take this back any time under Connected apps',
  ]) {
    assert.ok(text.includes(part), `${part} in: ${text}`)
  }
  assert.match(renderer.render(consent, 'en'), /<code><bdi>logs:read<\/bdi><\/code>/)
})

test('the consent page of a client of a known domain names the domain', () => {
  for (const [language, line] of [
    ['en', 'From claude.ai'],
    ['de', 'Von claude.ai'],
  ] as const) {
    const text = textOf(renderer.render(sample('consent known domain', 'consent'), language))
    assert.ok(text.includes(line), text)
    assert.doesNotMatch(text, /Unverified|Nicht geprüft/)
  }
})

test('the consent page of a verified client has no warning about the client', () => {
  const text = textOf(renderer.render(sample('consent verified', 'consent'), 'en'))
  assert.doesNotMatch(text, /Unverified|Anyone can register/)
  assert.match(text, /Verified by Acme Cloud/)
})

test('the warning about pasting addresses appears only for a program on this computer', () => {
  const remote = { ...consent, client: { ...cursor, destination: { kind: 'host', host: 'a.example' } } } as const
  assert.doesNotMatch(textOf(renderer.render(remote, 'en')), /paste/)
})

test('a client without a name, or with an empty name, is shown as an app without a name', () => {
  for (const name of [undefined, '', '  \u3000 ']) {
    const page = { ...consent, client: { ...cursor, name } }
    assert.match(textOf(renderer.render(page, 'en')), /An app without a name wants to use your account/)
    assert.match(textOf(renderer.render(page, 'de')), /Eine App ohne Namen möchte Ihr Konto verwenden/)
  }
})

test('a client is named in the language of the page, and a name in another known language has a lang', () => {
  const german = { default: 'Board', de: 'Tafel' }
  for (const [name, language, shown] of [
    [german, 'de', '<bdi>Tafel</bdi>'],
    [german, 'en', '<bdi>Board</bdi>'],
    [{ de: 'Tafel' }, 'en', '<bdi lang="de">Tafel</bdi>'],
    [{ en: 'Board' }, 'de', '<bdi lang="en">Board</bdi>'],
    ['Board', 'de', '<bdi>Board</bdi>'],
  ] as const)
    for (const page of [consent, signIn]) {
      const client = { ...cursor, name }
      assert.ok(renderer.render({ ...page, client }, language).includes(shown), `${page.kind} ${shown}`)
    }
})

test('the consent page of a token without API and scope states that the app learns only the account', () => {
  const bare = sample('consent bare', 'consent')
  assert.match(textOf(renderer.render(bare, 'en')), /It learns which account you have here, and can do nothing else\./)
  assert.match(
    textOf(renderer.render(bare, 'de')),
    /Sie erfährt, welches Konto Sie hier haben, und kann sonst nichts\./,
  )
  assert.doesNotMatch(textOf(renderer.render(bare, 'en')), /It will be able to|Gives access to/)
})

test('the consent page names each API without scopes, to which the app gets full access, and the scopes of the other APIs', () => {
  const unlimited = { name: 'Files', identifier: 'https://files.test', isLimited: false }
  const page = { ...consent, resources: [...consent.resources, unlimited] }
  const text = textOf(renderer.render(page, 'en'))
  assert.match(text, /It will be able to/)
  assert.match(text, /What it can do with your account at Files is not limited by permissions\./)
  assert.equal(text.match(/is not limited/g)?.length, 1)
  assert.match(textOf(renderer.render(page, 'de')), /bei Files tun kann, ist nicht durch Berechtigungen begrenzt/)
})

test('a client’s age is shown in everyday units', () => {
  const ages: readonly (readonly [seconds: number, en: string, de: string])[] = [
    [-5, 'less than a minute ago', 'vor weniger als einer Minute'],
    [59, 'less than a minute ago', 'vor weniger als einer Minute'],
    [60, '1 minute ago', 'vor 1 Minute'],
    [3599, '59 minutes ago', 'vor 59 Minuten'],
    [3600, '1 hour ago', 'vor 1 Stunde'],
    [47 * 3600, '47 hours ago', 'vor 47 Stunden'],
    [48 * 3600, '2 days ago', 'vor 2 Tagen'],
    [60 * 86_400, '2 months ago', 'vor 2 Monaten'],
    [800 * 86_400, '2 years ago', 'vor 2 Jahren'],
  ]
  for (const [ageSeconds, en, de] of ages) {
    const page = { ...consent, client: { ...cursor, ageSeconds } }
    assert.match(textOf(renderer.render(page, 'en')), new RegExp(`registered ${en}`))
    assert.match(textOf(renderer.render(page, 'de')), new RegExp(`registriert ${de}`))
  }
})

test('a very long name is cut before it pushes the warning away', () => {
  const html = renderer.render(sample('consent endless', 'consent'), 'en')
  assert.match(html, /<bdi>W{100}…<\/bdi> wants/)
})

test('a problem of one field is shown beside the field and linked to it by aria-describedby', () => {
  const html = renderer.render(sample('sign-in password-missing', 'sign-in'), 'en')
  const [, email = ''] = /<input\s+id="email"([^>]*)>/.exec(html) ?? []
  const [, password = ''] = /<input\s+id="password"([^>]*)>/.exec(html) ?? []
  assert.doesNotMatch(email, /aria-/)
  assert.match(password, /autofocus aria-invalid="true" aria-describedby="problem"/)
  assert.match(html, /<p class="error" role="alert" id="problem">/)
  assert.match(html, /<title>Error: Sign in/)
})

test('after wrong credentials both fields are marked and only the email is filled in again', () => {
  const html = renderer.render(sample('sign-in wrong-credentials', 'sign-in'), 'en')
  assert.equal(html.match(/aria-invalid="true" aria-describedby="problem"/g)?.length, 2)
  assert.match(html, /value="ada@acme\.test"/)
  assert.doesNotMatch(html, /<input\s+id="password"[^>]*(?:value|maxlength)=/)
})

test('a throttled sign-in states when to try again and marks no field', () => {
  for (const [retryAfterSeconds, en, de] of [
    [0, 'in 1 second', 'in 1 Sekunde'],
    [29.2, 'in 30 seconds', 'in 30 Sekunden'],
    [91, 'in 2 minutes', 'in 2 Minuten'],
    [7200, 'in 2 hours', 'in 2 Stunden'],
  ] as const) {
    const page = { ...signIn, problem: { kind: 'throttled', retryAfterSeconds } } as const
    assert.ok(textOf(renderer.render(page, 'en')).includes(`Try again ${en}.`))
    assert.ok(textOf(renderer.render(page, 'de')).includes(`Versuchen Sie es ${de} noch einmal.`))
    assert.doesNotMatch(bodyOf(renderer.render(page, 'en')), /aria-invalid/)
  }
})

test('the return page has the error and its description in a closed details element, in both languages, and the exact link', () => {
  const page = sample('return invalid_scope', 'return')
  assert.ok(page.back.kind === 'link')
  const html = renderer.render(page, 'en')
  const [, folded] = /<details class="small muted after">([\s\S]*)<\/details>/.exec(html) ?? []
  assert.match(folded ?? '', /<summary>For developers<\/summary>/)
  assert.ok(folded?.includes('<code>error=invalid_scope</code>'))
  assert.ok(folded?.includes(page.notes.explanation))
  assert.match(renderer.render(page, 'de'), /<summary>Für Entwickler<\/summary>\s*<p lang="en">/)
  assert.ok(html.includes(`href="${page.back.uri.replaceAll('&', '&amp;')}"`))
  assert.match(textOf(html), /Go back to app\.example\.com/)
})

test('without configured links there is no footer', () => {
  const bare = createRenderer(
    { ...branding, contact: undefined, termsUri: undefined, privacyUri: undefined },
    '/pictures/',
  )
  assert.doesNotMatch(bare.render(consent, 'en'), /<footer/)
})

/** The address of the client that a page leads to. */
function destinationOf(page: Page): string | undefined {
  if (page.kind === 'form-post') return page.action
  if (page.kind === 'leave') return page.uri
  if (page.kind === 'signed-out') return page.back?.uri
  if (page.kind === 'error' || page.kind === 'account-link-used') return page.product?.uri
  if (page.kind !== 'return') return undefined
  return page.back.kind === 'link' ? page.back.uri : page.back.action
}

/** The sentences of APIs have no translation. */
function withoutApiTexts(page: Page): Page {
  if (page.kind === 'consent') return { ...page, scopes: [] }
  if (page.kind === 'account-remove-app') return { ...page, app: { ...page.app, permissions: [] } }
  return page.kind === 'account-apps' ? { ...page, apps: page.apps.map((app) => ({ ...app, permissions: [] })) } : page
}

test('a German page contains no English sentence', () => {
  for (const [name, page] of samples) {
    const translated = withoutApiTexts(page)
    const german = textOf(
      renderer.render(translated, 'de').replaceAll(/<(p lang="en"|script)>[\s\S]*?<\/(p|script)>/g, ''),
    )
    assert.doesNotMatch(german, /\b(?:the|your|this|you|asks?|registered|sign)\b/i, name)
  }
})

test('the letter of a tile is the first one as people see it, also of several characters', () => {
  for (const [name, letter] of [
    [' acme', 'A'],
    ['x', 'X'],
    ['4711', '4'],
    ['e\u0301tude', 'E\u0301'],
    ['1\uFE0F\u20E3 first', '1\uFE0F\u20E3'],
    ['\u{1F469}\u200D\u{1F680} Space', '\u{1F469}\u200D\u{1F680}'],
    ['\u00E4rzte', '\u00C4'],
    ['', ''],
  ] as const)
    assert.equal(initial(name), letter, name)
})
