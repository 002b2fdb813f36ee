import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APPLICATION_URL, openApplication, startAtClient } from '../support/application.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'
import { locationOf, PlainBrowser, redeem } from '../../tools/flow.ts'

test('DEL-10: a sign-in that starts on one node and is answered on the other gives one code on both', async (t) => {
  const closed = closedFirst(t)
  const env = {
    DATABASE_URL: await openMigratedDatabase(t),
    GRANTOR_SECRET: 's'.repeat(40),
    GRANTOR_DELEGATE_URL: APPLICATION_URL,
  }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  const { browser, client, interaction } = await startAtClient(a)
  const address = await (await openApplication(b)).signIn(interaction)
  const elsewhere = new PlainBrowser(b)
  for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
  const answers = await Promise.all([browser.get(address), elsewhere.get(address), browser.get(address)])
  const locations = new Set(answers.map(locationOf))
  assert.equal(locations.size, 1)
  const code = new URL([...locations][0] ?? '').searchParams.get('code') ?? ''
  assert.equal((await redeem(b, client, code)).statusCode, 200)
})
