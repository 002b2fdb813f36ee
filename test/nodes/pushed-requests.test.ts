import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locationOf, PlainBrowser, pushedUrl, redeem, registerClient } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { consentedBrowser } from '../support/authorize-answers.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

test('PAR-08: a request that was pushed to one node is opened on another, and approved once of two nodes at the same time', async (t) => {
  const closed = closedFirst(t)
  const env = await openNodeSettings(t)
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  await createAda(a)
  const client = await registerClient(a)
  const here = await consentedBrowser(a, client)
  const there = new PlainBrowser(b)
  for (const [name, value] of here.cookies) there.cookies.set(name, value)
  for (let race = 0; race < 4; race += 1) {
    const url = await pushedUrl(a, client, { prompt: 'consent' })
    const pages = await Promise.all(
      [here, there].map(async (browser) => ({ browser, page: await browser.get(locationOf(await browser.get(url))) })),
    )
    const answers = await Promise.all(pages.map(({ browser, page }) => browser.submit(page, { decision: 'allow' })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other),
      [303, 409],
    )
    const code = new URL(answers.map(({ headers }) => headers.location).find(Boolean) ?? '').searchParams.get('code')
    assert.equal((await redeem(b, client, code ?? '')).statusCode, 200)
    for (const browser of [here, there]) assert.equal((await browser.get(url)).statusCode, 400)
  }
})
