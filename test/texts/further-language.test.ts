import assert from 'node:assert/strict'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { writeTexts } from '../../src/cli/docs/texts.ts'
import type * as Library from '../../src/library/grantor.ts'
import { TEXTS, LANGUAGES } from '../../src/texts/generated.ts'
import type * as Mail from '../../src/web/mail/mail.ts'
import type * as Render from '../../src/web/render.ts'
import { branding, samples } from '../web/samples.ts'
import { temporaryFolder } from '../support/server.ts'

const ITALIAN = { signIn: 'Accedi', password: 'Parola d’accesso', email: 'Indirizzo e-mail' }
const FROM = { address: '127.0.0.1' }

test('a further language is one file: pages have its texts, and say which of their parts are English', async (t) => {
  const folder = temporaryFolder(t)
  cpSync('src', join(folder, 'src'), { recursive: true })
  cpSync('package.json', join(folder, 'package.json'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'src/texts/it.json'), JSON.stringify(ITALIAN))
  writeTexts(join(folder, 'src/texts'))
  const load = <T>(path: string): Promise<T> => import(join(folder, path)) as Promise<T>

  const { createGrantor } = await load<typeof Library>('src/library/grantor.ts')
  const issuer = 'http://localhost:1'
  const grantor = await createGrantor({ issuer, database: `sqlite:${join(folder, 'grantor.db')}` })
  t.after(() => grantor.close())
  const visit = (address: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    grantor.fetch(new Request(new URL(address, issuer), { headers: { accept: 'text/html', ...headers } }), FROM)
  const metadata = await (await visit('/.well-known/openid-configuration', {})).json()
  assert.deepEqual(new Set(metadata.ui_locales_supported), new Set([...LANGUAGES, 'it']))
  for (const [address, language] of [
    ['/account', 'it-CH, de;q=0.5'],
    ['/account?ui_locales=it', 'de'],
  ] as const) {
    const account = await visit(address, { 'accept-language': language })
    const cookie = account.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const signIn = await visit(account.headers.get('location') ?? '', { 'accept-language': language, cookie })
    const page = await signIn.text()
    assert.match(page, /<html lang="it">/)
    assert.match(page, /<title>Accedi ·/)
    assert.match(page, /<h1>Accedi<\/h1>/)
    assert.match(page, /<label for="password">Parola d’accesso<\/label>/)
    assert.match(page, /<p class="lead muted"><span lang="en">to manage your account<\/span><\/p>/)
  }

  const { createRenderer } = await load<typeof Render>('src/web/render.ts')
  const { render } = createRenderer(branding, '/pictures/')
  for (const [name, model] of samples) {
    const page = render(model, 'it' as never)
    assert.doesNotMatch(page, /="[^"]*&lt;span lang|<(title|option)[^>]*>[^<]*(<|&lt;)span lang/, name)
    assert.doesNotMatch(page, /=\s*"[^"<>]*<span lang/, name)
  }

  const { renderMail } = await load<typeof Mail>('src/web/mail/mail.ts')
  const mail = { content: { kind: 'test' }, address: 'ada@acme.test', language: 'it' as never } as const
  assert.equal(renderMail(branding, mail).language, 'en')
  const mails = Object.entries(TEXTS.en)
  const it = Object.fromEntries(mails.filter(([id]) => id.startsWith('mail.')).map(([id, text]) => [id, `${text} IT`]))
  const translated = renderMail({ ...branding, texts: { it } as never }, mail)
  assert.equal(translated.language, 'it')
  assert.match(translated.html, /<html lang="it">[^]*The mail settings of Acme Cloud work\. IT/)
})
