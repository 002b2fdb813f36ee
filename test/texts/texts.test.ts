import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TextChanges } from '../../src/texts/texts.ts'
import { renderMail } from '../../src/web/mail/mail.ts'
import { createRenderer } from '../../src/web/render.ts'
import { openTranslations, type Translation } from '../../src/web/texts.ts'
import { branding, sample } from '../web/samples.ts'

const { en, de } = openTranslations({})

test('a text has the values of its slots, escaped in markup and as they are in text', () => {
  assert.equal(en.show('continueTo', { client: '<b>' }).toString(), 'to continue to &lt;b&gt;')
  assert.equal(en.say('continueTo', { client: '<b>' }), 'to continue to <b>')
  assert.equal(de.say('title', { heading: 'A {brand}', brand: '$&' }), 'A {brand} · $&')
})

test('the compiler refuses an unknown id, a missing slot and one that the text does not have', () => {
  const refused = (texts: Translation) => [
    // @ts-expect-error
    texts.say('signin'),
    // @ts-expect-error
    texts.say('continueTo'),
    // @ts-expect-error
    texts.show('continueTo', { klient: 'a' }),
    // @ts-expect-error
    texts.show('continueTo', { client: 'a', host: 'b' }),
    // @ts-expect-error
    texts.show('signIn', { client: 'a' }),
    // @ts-expect-error
    texts.say('account.recoveryLeft.one', { count: 1 }),
  ]
  assert.equal(typeof refused, 'function')
})

test('the number chooses the plural form, and a text without the form is used as it is', () => {
  const texts = openTranslations({ de: { 'account.recoveryLeft.one': 'Ein Code.' } }).de
  assert.equal(texts.say('account.recoveryLeft', { count: 1 }), 'Ein Code.')
  assert.equal(texts.say('account.recoveryLeft', { count: 0 }), 'Sie haben noch 0 Wiederherstellungscodes.')
  assert.equal(texts.show('account.recoveryLeft', { count: 2 }).toString(), 'Sie haben noch 2 Wiederherstellungscodes.')
})

test('texts of the operator replace those of pages, of account pages and of mails, in their language alone, and add no markup', () => {
  const texts: TextChanges = {
    en: { signIn: 'Log in & "go" <b>', 'account.pages.overview': 'My account', 'mail.test': '<i>Works</i> at {brand}' },
  }
  const { render } = createRenderer({ ...branding, texts }, '/pictures/')
  const page = render(sample('sign-in', 'sign-in'), 'en')
  assert.ok(page.includes('<h1>Log in &amp; &quot;go&quot; &lt;b&gt;</h1>'))
  assert.ok(page.includes('<title>Log in &amp; &quot;go&quot; &lt;b&gt; · Acme Cloud</title>'))
  assert.ok(render(sample('sign-in', 'sign-in'), 'de').includes('<h1>Anmelden</h1>'))
  assert.ok(render(sample('account', 'account-overview'), 'en').includes('<h1>My account</h1>'))
  const mail = { content: { kind: 'test' }, address: 'ada@acme.test', language: 'en' } as const
  const { html, text } = renderMail({ ...branding, texts }, mail)
  assert.ok(html.includes('&lt;i&gt;Works&lt;/i&gt; at Acme Cloud'))
  assert.ok(text.includes('<i>Works</i> at Acme Cloud'))
})
