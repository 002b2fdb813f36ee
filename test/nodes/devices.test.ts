import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDeviceConsent, poll, startDevice } from '../../tools/device-flow.ts'
import { PlainBrowser } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { closedFirst } from '../support/closed-first.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

test('DEV-13: of two nodes one connects a device that another one started, and of their polls one gets tokens', async (t) => {
  const closed = closedFirst(t)
  const env = { ...(await openNodeSettings(t)), ...DEVICES_ON }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  await createAda(a)
  const client = await createDeviceClient(a)
  const browsers = [new PlainBrowser(a), new PlainBrowser(b)]
  for (let race = 0; race < 3; race += 1) {
    const device = await startDevice(a, client)
    const pages = await Promise.all(
      browsers.map(async (browser) => ({ browser, page: await openDeviceConsent(browser, device) })),
    )
    const answers = await Promise.all(pages.map(({ browser, page }) => browser.submit(page, { decision: 'allow' })))
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)
    assert.deepEqual(statuses, [200, 409])
    const polls = await Promise.all(
      Array.from({ length: 10 }, (_, index) => poll(index % 2 === 0 ? a : b, client, device)),
    )
    const outcomes = polls.map((answer) => answer.json<{ error?: string }>().error ?? 'tokens').toSorted()
    assert.deepEqual(outcomes, [...Array<string>(9).fill('invalid_grant'), 'tokens'])
  }
})
