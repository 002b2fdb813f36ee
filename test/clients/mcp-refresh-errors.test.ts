import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { InvalidTargetError, TemporarilyUnavailableError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import type { ClientId } from '../../src/protocol/ids.ts'
import { openTestServer, STRICT } from '../support/server.ts'
import { createAda } from '../support/accounts.ts'
import { openMemoryProvider, type MemoryProvider } from './memory-provider.ts'
import { newestSdk } from './mcp-sdk.ts'
import { walkIn, type Surroundings } from './mcp-walk.ts'
import { openPerson } from '../../tools/person.ts'
import { openResourceServer } from '../../tools/mcp-server.ts'

/** How the SDK handles each refusal of a refresh, which is the reason for the error codes of decision 0005. */

const DAY_MS = 24 * 60 * 60 * 1000

test('RFC 6749 §5.2: after an expired refresh token the SDK asks the user again and keeps its registration', async (t) => {
  const { server, refresh, provider } = await openSignedIn(t, {})
  const client = provider.savedClient()
  server.clock.advance(31 * DAY_MS)
  assert.equal(await refresh(), 'REDIRECT')
  assert.deepEqual(provider.thrownAway, ['tokens'])
  assert.deepEqual(provider.savedClient(), client)
})

test('RFC 9700 §4.14.2: after the use of a stolen refresh token the SDK asks the user again', async (t) => {
  const { server, refresh, provider } = await openSignedIn(t, STRICT)
  const stolen = provider.savedTokens()
  assert.equal(await refresh(), 'AUTHORIZED')
  server.clock.advance(DAY_MS)
  assert.equal(await refresh(), 'AUTHORIZED')
  const latest = provider.savedTokens()
  assert.ok(stolen && latest)
  provider.saveTokens(stolen)
  assert.equal(await refresh(), 'REDIRECT')
  provider.saveTokens(latest)
  assert.equal(await refresh(), 'REDIRECT', 'The family is revoked, and with it the newest token.')
  assert.deepEqual(provider.thrownAway, ['tokens', 'tokens'])
})

test('RFC 6749 §5.2: after its client was deleted the SDK registers a new one, and the user can sign in again', async (t) => {
  const { server, refresh, provider, surroundings } = await openSignedIn(t, {})
  const before = provider.savedClient()?.client_id
  await server.context.store.deleteClient(before as ClientId)
  assert.equal(await refresh(), 'REDIRECT')
  assert.deepEqual(provider.thrownAway, ['all'])
  assert.notEqual(provider.savedClient()?.client_id, before)
  await walkIn(newestSdk, surroundings, provider)
})

test('decision 0005: while the store is locked the SDK gets 503, keeps its tokens, and continues afterwards', async (t) => {
  const { server, refresh, provider } = await openSignedIn(t, {})
  const tokens = provider.savedTokens()
  const database = new DatabaseSync(join(server.folder, 'grantor.db'))
  database.exec('begin immediate')
  await assert.rejects(refresh(), TemporarilyUnavailableError)
  database.exec('rollback')
  database.close()
  assert.deepEqual(provider.thrownAway, [])
  assert.deepEqual(provider.savedTokens(), tokens)
  assert.equal(await refresh(), 'AUTHORIZED')
})

test('decision 0005: after too many failures of its network the SDK gets 429 and keeps its tokens', async (t) => {
  const { server, refresh, provider } = await openSignedIn(t, { GRANTOR_CLIENT_FAILURE_RATE: '1' })
  const tokens = provider.savedTokens()
  await server.context.store.deleteClient(provider.savedClient()?.client_id as ClientId)
  await fetch(`${server.origin}/v2/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody' }),
  })
  await assert.rejects(refresh(), TemporarilyUnavailableError)
  assert.deepEqual(provider.thrownAway, [])
  assert.deepEqual(provider.savedTokens(), tokens)
})

test('RFC 8707 §2: a resource outside the grant is reported, and the SDK keeps its tokens', async (t) => {
  const { refresh, provider } = await openSignedIn(t, {})
  const tokens = provider.savedTokens()
  provider.validateResourceURL = async () => new URL('https://another.example/')
  await assert.rejects(refresh(), InvalidTargetError)
  assert.deepEqual(provider.thrownAway, [])
  assert.deepEqual(provider.savedTokens(), tokens)
})

interface SignedIn {
  readonly server: Surroundings['server']
  readonly surroundings: Surroundings
  readonly provider: MemoryProvider
  readonly refresh: () => Promise<'AUTHORIZED' | 'REDIRECT'>
}

async function openSignedIn(t: TestContext, env: Readonly<Record<string, string>>): Promise<SignedIn> {
  const server = await openTestServer(t, { listen: true, env })
  await createAda(server)
  const resourceServer = await openResourceServer(t, { issuer: server.origin, path: '/mcp', scopes: [] })
  const surroundings = { server, resourceServer, person: openPerson(server.origin) }
  const provider = openMemoryProvider()
  await walkIn(newestSdk, surroundings, provider)
  return {
    server,
    surroundings,
    provider,
    refresh: () => newestSdk.auth(provider, resourceServer.url, undefined),
  }
}
