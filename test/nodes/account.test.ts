import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formsOf, openOwner } from '../endpoints/account/owner.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, JWT_API, knowApis } from '../support/apis.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'
import { assertInvalidGrant } from '../support/token-answers.ts'
import { isActive } from '../support/token-questions.ts'
import { obtainTokens, PlainBrowser, refresh, registerClient } from '../../tools/flow.ts'

test('ACC-07: what a user removes or ends on one node has ended on the other at once', async (t) => {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  await createAda(a)
  const api = await declareApi(a, JWT_API)
  knowApis(a)
  const client = await registerClient(a)
  const { access_token, refresh_token = '' } = await obtainTokens(b, client, { resource: JWT_API })
  const elsewhere = openOwner(b)
  await elsewhere.open('/account')
  const owner = openOwner(a)
  assert.equal(await isActive(b, api, access_token), true)
  await owner.remove(await owner.open('/account/apps'), 'client', client.client_id)
  assert.equal(await isActive(b, api, access_token), false)
  assertInvalidGrant(await refresh(b, client, refresh_token))

  await owner.submit(await owner.open('/account/sessions'), 'others')
  assert.equal((await elsewhere.browser.get('/account')).statusCode, 303)
  const here = new PlainBrowser(b)
  for (const [name, value] of owner.browser.cookies) here.cookies.set(name, value)
  const shown = await here.get('/account/sessions')
  assert.equal(shown.statusCode, 200)
  assert.equal(formsOf(shown).length, 0)
})
