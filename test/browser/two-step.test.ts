import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import jsQR from 'jsqr'
import type { Page as Tab } from 'playwright-core'
import { EMAIL, PASSWORD, redeem } from '../../tools/flow.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { sharedBrowser } from '../support/browser.ts'
import { appOfPage } from '../support/sign-in/apps.ts'
import { axeFindings, openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

/** Two-step sign-in in a real browser. */

const browser = await sharedBrowser()
const API = 'https://bank.example'

const CASES = [
  ['English, light', { locale: 'en-GB' }],
  ['German, dark, 360 px', { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const

for (const [name, options] of CASES) {
  test(`a user sets an app up, saves the codes, signs in with a code, and gets back in with a recovery code: ${name}`, async (t) => {
    const server = await openIssuer(t, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin], options)
    const check = async (page: string): Promise<void> => {
      assert.deepEqual(await axeFindings(tab), [], page)
      assert.ok(await tab.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'), page)
    }
    await tab.goto(`${server.origin}/account/security`)
    await doFirstStep(tab)
    await tab.locator('a[href*="/account/security/app"]').click()
    await tab.locator('svg.qr').waitFor()
    await check('the QR code')
    const app = appOfPage(server, { body: await tab.content() })
    const key = (await tab.locator('code.key').innerText()).replaceAll(/\s/g, '')
    const label = `Grantor:${encodeURIComponent(EMAIL)}`
    assert.equal(await readQrCode(tab), `otpauth://totp/${label}?secret=${key}&issuer=Grantor`)
    await tab.locator('#code').fill(app.code())
    await submit(tab)
    await check('the recovery codes')
    const codes = await tab.locator('.codes code').allInnerTexts()
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.locator('a[download]').click()])
    assert.equal(download.suggestedFilename(), 'recovery-codes.txt')
    assert.equal(readFileSync(await download.path(), 'utf8'), `${codes.join('\n')}\n`)

    server.clock.advance(30_000)
    await tab.context().clearCookies()
    await tab.goto(`${server.origin}/account/security`)
    await doFirstStep(tab)
    assert.equal(await tab.evaluate<string>('document.activeElement.id'), 'code')
    await check('the second step')
    await tab.locator('#code').fill(app.code())
    await submit(tab)
    await tab.locator('a[href*="recovery-codes"]').waitFor()

    await tab.context().clearCookies()
    await tab.goto(`${server.origin}/account/security`)
    await doFirstStep(tab)
    await tab.locator('summary').click()
    await tab.locator('#recovery-code').fill(codes[0] ?? '')
    await tab.locator('details button').click()
    await tab.locator('a[href*="recovery-codes"]').waitFor()
    assert.match(await tab.locator('main').innerText(), /\b9\b/)
    assert.deepEqual(complaints, [])
  })
}

test('ACR-08: an application asks for what needs a second factor; the user sets an app up meanwhile, and ends in the application', async (t) => {
  const server = await openIssuer(t, {})
  const listener = await openListener(t)
  const pay = { name: 'pay', sentence: 'Pay', grantedTo: 'users', stepUp: { level: 2, maxAge: undefined } } as const
  await declareApi(server, API, {}, [{ name: 'read', sentence: 'Read', grantedTo: 'users' }, pay])
  knowApis(server)
  const origins = [server.origin, `http://localhost:${listener.port}`]
  const { tab, complaints } = await openTab(t, browser, origins, { viewport: { width: 360, height: 740 } })
  const asked = { scope: 'read pay', resource: API }
  const redirect_uri = `http://localhost:${listener.port}/callback`
  const { client, link } = await startClient(server, redirect_uri, asked, {})
  await tab.goto(link)
  await signIn(tab)
  await tab.getByRole('link', { name: sentence('setUpNow') }).click()
  await tab.locator('svg.qr').waitFor()
  assert.deepEqual(await axeFindings(tab), [])
  await tab.locator('#code').fill(appOfPage(server, { body: await tab.content() }).code())
  await submit(tab)
  await press(tab, 'Continue')
  await press(tab, 'Allow')
  const code = (await listener.next()).searchParams.get('code') ?? ''
  const tokens = (await redeem(server, client, code, { redirect_uri })).json<{ readonly scope: string }>()
  assert.equal(tokens.scope, 'read pay')
  assert.deepEqual(complaints, [])
})

/** Reads the QR code as it is on the screen, by a decoder that we did not write. */
async function readQrCode(tab: Tab): Promise<string> {
  const picture = (await tab.locator('svg.qr').screenshot()).toString('base64')
  const { width, height, data } = await tab.evaluate<{ width: number; height: number; data: number[] }>(`(async () => {
    const bytes = Uint8Array.from(atob('${picture}'), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    canvas.drawImage(bitmap, 0, 0)
    const all = canvas.getImageData(0, 0, bitmap.width, bitmap.height)
    return { width: all.width, height: all.height, data: [...all.data] }
  })()`)
  return jsQR.default(Uint8ClampedArray.from(data), width, height)?.data ?? 'not readable'
}

async function doFirstStep(tab: Tab): Promise<void> {
  await tab.locator('#email').fill(EMAIL)
  await tab.locator('#password').fill(PASSWORD)
  await tab.locator('form:has(#password) button[type="submit"]').click()
  await tab.locator('h1').waitFor()
}

/** Submits the form of the code. */
async function submit(tab: Tab): Promise<void> {
  await tab.locator('form:has(#code) button[type="submit"]').click()
  await tab.locator('h1').waitFor()
}
