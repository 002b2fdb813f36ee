import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { from, poll, startDevice } from '../../tools/device-flow.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openApplication, redirectOf } from '../support/application.ts'
import { sharedBrowser } from '../support/browser.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { openTestServer } from '../support/server.ts'
import { tokensOf } from '../support/token-answers.ts'
import { openIssuer, openTab } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

const browser = await sharedBrowser()
const PHONE = { viewport: { width: 360, height: 740 }, javaScriptEnabled: false }

test('DEV-04: at the width of a phone and without scripts a device elsewhere needs the box', async (t) => {
  const server = await openIssuer(t, DEVICES_ON)
  const cli = await createDeviceClient(server)
  const device = await startDevice(from(server, '203.0.113.9'), cli, { scope: 'openid email' })
  const { tab, complaints } = await openTab(t, browser, [server.origin], PHONE)
  await tab.goto(`${server.origin}/device?user_code=${device.user_code}`)
  const field = tab.getByLabel('Code')
  assert.equal(await field.inputValue(), '')
  await field.fill('bcdf ghjk')
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByText(sentence('device.codeWrong')).waitFor()
  await field.fill(device.user_code.toLowerCase().replace('-', ''))
  await field.press('Enter')
  await tab.getByLabel('Email').fill(EMAIL)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  const connect = tab.getByRole('button', { name: sentence('device.connect') })
  await connect.click()
  await tab.getByText('Check this box if you started it yourself').waitFor()
  const width = await tab.locator('html').evaluate(({ scrollWidth }) => scrollWidth)
  assert.ok(width <= PHONE.viewport.width, `the page is ${width} px wide`)
  await tab.getByLabel(sentence('device.isOwn')).check()
  await connect.click()
  await tab.getByText('Return to your device').waitFor()
  tokensOf(await poll(server, cli, device))
  await tab.goto(`${server.origin}/device`)
  await field.fill(device.user_code)
  await field.press('Enter')
  await tab.getByText(sentence('device.codeWrong')).waitFor()
  assert.deepEqual(complaints, [])
})

test('DEV-12: in a real browser the form of the code leads to the application of another site, and back', async (t) => {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const server = await openTestServer(t, {
    listen: true,
    env: { ...DEVICES_ON, GRANTOR_DELEGATE_URL: `${origin}/consent` },
  })
  const application = await openApplication(server)
  const site = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const accepted = application.accept(url.searchParams.get('interaction') ?? '', {
      subject: 'u_1',
      name: 'Ada',
      own_device: true,
    })
    void accepted.then((answer) => response.writeHead(303, { location: redirectOf(answer) }).end())
  }).listen(port, '127.0.0.1')
  t.after(() => site.close())
  const cli = await createDeviceClient(server)
  const device = await startDevice(server, cli)
  const { tab, complaints } = await openTab(t, browser, [server.origin, origin], PHONE)
  await tab.goto(`${server.origin}/device?ui_locales=de`)
  await tab.getByLabel('Code').fill(device.user_code)
  await tab.getByRole('button', { name: 'Weiter' }).click()
  await tab.getByRole('link', { name: 'Anmelden' }).click()
  await tab.getByText('Kehren Sie zu Ihrem Gerät zurück').waitFor()
  tokensOf(await poll(server, cli, device))
  assert.deepEqual(complaints, [])
})
