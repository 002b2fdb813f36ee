import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createAda } from '../support/accounts.ts'
import {
  obtainCode,
  obtainTokens,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type Tokens,
} from '../../tools/flow.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

for (const store of ['SQLite', 'PostgreSQL'] as const) {
  test(`on ${store} a client registers, a user consents, and the code gives tokens that can be refreshed`, async (t) => {
    const server = await openTestServer(t, store === 'SQLite' ? {} : { env: await postgresSettings(t) })
    await createAda(server)
    const client = await registerClient(server)
    const first = await obtainTokens(server, client)
    assert.ok(first.refresh_token)
    const response = await refresh(server, client, first.refresh_token)
    assert.equal(response.statusCode, 200, response.body)
    const second = response.json<Tokens>()
    assert.notEqual(second.refresh_token, first.refresh_token)
  })
}

test('RFC 6749 §4.1.2: a code that is used twice is refused, and its tokens are revoked', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const tokens = (await redeem(server, client, code)).json<Tokens>()
  const replay = await redeem(server, client, code)
  assert.equal(replay.statusCode, 400)
  assert.equal(replay.json().error, 'invalid_grant')
  const refused = await refresh(server, client, tokens.refresh_token ?? '')
  assert.equal(refused.json().error, 'invalid_grant')
})

test('a client without a user gets a token with its own credentials', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const response = await requestToken(server, client, { grant_type: 'client_credentials' })
  assert.equal(response.statusCode, 200, response.body)
})

async function postgresSettings(t: TestContext): Promise<Readonly<Record<string, string>>> {
  return { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 'b'.repeat(43) }
}
