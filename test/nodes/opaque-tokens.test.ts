import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declareApi, knowApis, OPAQUE_API } from '../support/apis.ts'
import { introspect, isActive, revoke } from '../support/token-questions.ts'
import { createAda } from '../support/accounts.ts'
import { obtainTokens, refresh, registerClient, requestToken, type Tokens } from '../../tools/flow.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

test('an opaque token of one node is known on another at once, returned again there byte for byte, and revoked from there', async (t) => {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  await createAda(a)
  const api = await declareApi(a, OPAQUE_API, { format: 'opaque', lifetime: 300 })
  knowApis(a)
  const client = await registerClient(a, { scope: 'read' })
  const form = { grant_type: 'client_credentials', resource: OPAQUE_API }
  const machine = (await requestToken(a, client, form)).json<Tokens>()
  assert.equal((await introspect(b, api, machine.access_token)).json().active, true)
  const { refresh_token: token = '' } = await obtainTokens(a, client, { resource: OPAQUE_API })
  const answers = await Promise.all([a, b, a, b].map((node) => refresh(node, client, token)))
  const given = answers.map((answer) => answer.json<Tokens>())
  assert.match(given[0]?.access_token ?? '', /^gat_/)
  assert.equal(new Set(given.map((one) => `${one.access_token} ${one.refresh_token}`)).size, 1)
  const { access_token: live = '' } = given[0] ?? {}
  assert.equal(await isActive(b, api, live), true)
  assert.equal((await revoke(b, client, live)).statusCode, 200)
  assert.equal(await isActive(a, api, live), false)
  assert.equal((await revoke(b, client, given[0]?.refresh_token ?? '')).statusCode, 200)
  assert.equal((await refresh(a, client, given[0]?.refresh_token ?? '')).statusCode, 400)
  assert.equal(await isActive(a, api, machine.access_token), true)
})
