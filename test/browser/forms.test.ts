import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LANGUAGES } from '../../src/base/language.ts'
import type { Page as Tab } from 'playwright-core'
import { sample } from '../web/samples.ts'
import { servePages } from './served-pages.ts'

const pages = await servePages()

test('without script, the sign-in form sends exactly its four fields', async () => {
  const { tab } = await pages.openTab({ javaScriptEnabled: false })
  await tab.goto(pages.address('sign-in', 'en'))
  await tab.getByLabel('Email', { exact: true }).fill('ada@acme.test')
  await tab.getByLabel('Password', { exact: true }).fill('a "secret" <ü>')
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  assert.deepEqual(pages.posted(), {
    authorization: 'az_4f9c',
    csrf: 'cs_81d2',
    email: 'ada@acme.test',
    password: 'a "secret" <ü>',
  })
  await tab.context().close()
})

for (const [language, button, decision] of [
  ['en', 'Allow', 'allow'],
  ['en', 'Deny', 'deny'],
  ['de', 'Erlauben', 'allow'],
  ['de', 'Ablehnen', 'deny'],
] as const) {
  test(`without script, ${button} sends decision=${decision}`, async () => {
    const { tab } = await pages.openTab({ javaScriptEnabled: false })
    await tab.goto(pages.address('consent', language))
    await tab.getByRole('button', { name: button, exact: true }).click()
    const hidden = { authorization: 'az_4f9c', csrf: 'cs_81d2' }
    assert.deepEqual(pages.posted(), { 'allow.projects:read': 'on', ...hidden, decision })
    await tab.context().close()
  })
}

test('by keyboard and without script, the boxes of permissions are checked and unchecked', async () => {
  const { tab } = await pages.openTab({ javaScriptEnabled: false })
  await tab.goto(pages.address('consent', 'en'))
  for (const key of ['Tab', 'Space', 'Tab', 'Space']) await tab.keyboard.press(key)
  await tab.getByRole('button', { name: 'Allow', exact: true }).press('Enter')
  const { decision, ...others } = pages.posted()
  assert.equal(decision, 'allow')
  assert.deepEqual(
    Object.keys(others).filter((name) => name.startsWith('allow.')),
    ['allow.builds:start'],
  )
  await tab.context().close()
})

test('the focus is on the next empty field, and never on Allow', async () => {
  const { tab } = await pages.openTab({})
  for (const [name, id] of [
    ['sign-in', 'email'],
    ['sign-in email-missing', 'email'],
    ['sign-in password-missing', 'password'],
    ['sign-in wrong-credentials', 'password'],
    ['sign-in throttled', 'password'],
    ['consent', ''],
    ['sign-out', ''],
  ] as const) {
    await tab.goto(pages.address(name, 'en'))
    assert.equal(await settledFocus(tab), id, name)
  }
  await tab.context().close()
})

/**
 * The id of the focused element after the browser has processed `autofocus`, which happens with a frame and not with the
 * page's load. The frame after the next one comes later than that, whether or not an element has `autofocus`.
 */
async function settledFocus(tab: Tab): Promise<string> {
  return tab.evaluate<string>(`new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.activeElement.id))))`)
}

test('what to do without the password is above its field, and the keyboard reaches it after the button that Enter presses', async () => {
  const { tab } = await pages.openTab({ viewport: { width: 320, height: 800 } })
  for (const language of LANGUAGES)
    for (const name of ['sign-in', 'sign-in with mail']) {
      await tab.goto(pages.address(name, language))
      const field = await tab.locator('#password').boundingBox()
      const email = await tab.locator('#email').boundingBox()
      const way = await tab.locator('button[formaction], summary').boundingBox()
      assert.ok(email !== null && field !== null && way !== null)
      assert.ok(way.y >= email.y + email.height && way.y + way.height <= field.y + 1, `${name} (${language})`)
    }
  await tab.goto(pages.address('sign-in with mail', 'en'))
  const reached: string[] = []
  for (let step = 0; step < 5; step++) {
    reached.push(
      await tab.evaluate<string>('document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText'),
    )
    await tab.keyboard.press('Tab')
  }
  assert.deepEqual(reached, ['Email', 'Password', 'Show', 'Sign in', 'Forgot your password?'])
  const left = tab.waitForEvent('framenavigated')
  await tab.getByLabel('Email', { exact: true }).press('Enter')
  await left
  assert.equal(pages.posted()['ask'], undefined, 'Enter signs in')
  await tab.goto(pages.address('sign-in with mail', 'en'))
  await tab.getByRole('button', { name: 'Forgot your password?' }).click()
  assert.equal(pages.posted()['ask'], '')
  await tab.context().close()
})

test('the keyboard reaches every control in reading order, and the focus is visible', async () => {
  const { tab } = await pages.openTab({})
  await tab.goto(pages.address('consent', 'en'))
  const reached: string[] = []
  // A box is drawn beside its field, which covers the whole line.
  const drawn = `(document.activeElement.type === 'checkbox' ? document.activeElement.nextElementSibling : document.activeElement)`
  for (let step = 0; step < 10; step++) {
    await tab.keyboard.press('Tab')
    reached.push(
      await tab.evaluate<string>('(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()'),
    )
    assert.equal(await tab.evaluate<string>(`getComputedStyle(${drawn}).outlineWidth`), '2px')
  }
  assert.deepEqual(reached, [
    'Read your projects',
    'Start builds in your name\nAlle Builds starten und anhalten',
    'Set it up now',
    'Switch',
    'Deny',
    'Allow',
    'Connected apps',
    'Contact',
    'Terms',
    'Privacy',
  ])
  await tab.context().close()
})

test('UI-17: hostile text runs no script, loads nothing and does not change the layout', async () => {
  const { tab, complaints } = await pages.openTab({ viewport: { width: 320, height: 800 } })
  const consent = sample('consent', 'consent')
  for (const hostile of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    '</title><script>alert(1)</script>',
    '</style><style>*{display:none}</style>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<a href=javascript:alert(1)>Allow</a>',
    '<form action=//evil.example><button>Allow</button></form>',
    '\u202e\u2067<b>wolla\u202d',
    'e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308'.repeat(200),
  ]) {
    pages.show({
      ...consent,
      client: { ...consent.client, name: hostile, destination: { kind: 'app', scheme: hostile } },
      scopes: [
        { name: hostile, sentences: [], box: undefined },
        { name: 'x', sentences: [hostile, 'y'], box: { name: `allow.${hostile}`, isChecked: true } },
      ],
      resources: [{ name: hostile, identifier: hostile, isLimited: false }],
      account: { name: hostile, detail: hostile, isWithoutEmail: false },
    })
    await tab.goto(pages.address('shown', 'en'))
    assert.equal(await tab.getByRole('button').count(), 2)
    assert.equal(await tab.getByRole('link').count(), 6 + LANGUAGES.length)
    assert.ok((await tab.evaluate<number>('document.documentElement.scrollWidth')) <= 320)
  }
  assert.deepEqual(complaints, [])
  await tab.context().close()
})

test('the button shows the password and hides it, the form sends it hidden, and without script there is no button', async () => {
  const { tab, complaints } = await pages.openTab({})
  await tab.goto(pages.address('sign-in', 'en'))
  const password = tab.getByLabel('Password', { exact: true })
  const show = tab.getByRole('button', { name: 'Show password', exact: true })
  await password.fill('open sesame')
  const type = (): Promise<string | null> => password.getAttribute('type')
  await show.click()
  assert.deepEqual([await type(), await show.getAttribute('aria-pressed')], ['text', 'true'])
  await show.click()
  assert.deepEqual([await type(), await show.getAttribute('aria-pressed')], ['password', 'false'])
  await show.click()
  await tab.evaluate(`document.forms[0].addEventListener('submit', (event) => event.preventDefault())`)
  await password.press('Enter')
  assert.deepEqual([await type(), await password.inputValue()], ['password', 'open sesame'])
  assert.deepEqual(complaints, [])
  const plain = await pages.openTab({ javaScriptEnabled: false })
  await plain.tab.goto(pages.address('sign-in', 'en'))
  assert.equal(await plain.tab.getByRole('button').count(), 1)
  for (const one of [tab, plain.tab]) await one.context().close()
})

test('a button copies the recovery codes or the key and says so, and without script there is no button', async () => {
  const permissions = ['clipboard-read', 'clipboard-write']
  const { tab, complaints } = await pages.openTab({ permissions })
  for (const [name, copied] of [
    ['recovery codes', Array.from({ length: 10 }, (_, index) => `abcd-efgh-jkmn-pqr${index}`).join('\n')],
    ['account set up app', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
  ] as const) {
    await tab.goto(pages.address(name, 'fr'))
    await tab.getByRole('button', { name: 'Copier', exact: true }).click()
    await tab.getByRole('button', { name: 'Copié', exact: true }).waitFor()
    assert.equal(await tab.evaluate<string>('navigator.clipboard.readText()'), copied)
  }
  assert.deepEqual(complaints, [])
  const { tab: plain } = await pages.openTab({ javaScriptEnabled: false })
  await plain.goto(pages.address('recovery codes', 'fr'))
  await plain.getByRole('link', { name: 'Enregistrer dans un fichier' }).waitFor()
  assert.equal(await plain.getByRole('button', { name: 'Copier' }).count(), 0)
  for (const one of [tab, plain]) await one.context().close()
})
