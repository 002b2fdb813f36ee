import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import type { Log } from '../../../src/server/log.ts'
import type { Swept } from '../../../src/ports/operations/server.ts'
import { startSweeping } from '../../../src/server/background/sweeper.ts'
import { declareApi, knowApis, OPAQUE_API } from '../../support/apis.ts'
import { registerClient, requestToken, type RegisteredClient } from '../../../tools/flow.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { aUser } from '../../support/records.ts'
import { perform } from '../../support/tasks.ts'
import { selectAll } from '../../support/store/dump.ts'

test('hundreds of expired opaque tokens are removed in one sweep, slice by slice', async (t) => {
  const server = await openTestServer(t)
  await declareApi(server, OPAQUE_API, { format: 'opaque', lifetime: 60 })
  knowApis(server)
  const client = await registerClient(server)
  const form = { grant_type: 'client_credentials', resource: OPAQUE_API }
  const ask = () => requestToken(server, client, form)
  for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 90 }, ask))
  server.clock.advance(61_000)
  await ask()
  const counts = await sweepOnce(t, server, 3)
  assert.deepEqual(
    counts.map(({ opaqueTokens }) => opaqueTokens),
    [200, 200, 50],
  )
  assert.equal(selectAll(server, 'select * from opaque_tokens').length, 1)
})

test('UI-21: a sweep rewrites hundreds of addresses from before, and leaves those that another account has', async (t) => {
  const server = await openTestServer(t)
  const { store } = server.context
  const { email } = aUser({ email: 'anna@bücher.example' })
  await store.createUser(aUser({ email }))
  for (let user = 0; user < 450; user += 1)
    await store.createUser({ ...aUser(), email: `${user % 3 === 0 ? 'ü' : 'u'}${user}@bücher.example` as EmailAddress })
  await store.createUser({ ...aUser(), email: 'anna@bücher.example' as EmailAddress })
  const left = () => selectAll(server, `select email from users where email like '%@bücher%'`)
  assert.equal(left().length, 451)
  await sweepOnce(t, server, 1)
  while (left().length > 1) await setImmediate()
  assert.equal(left()[0]?.['email'], 'anna@bücher.example')
  assert.equal((await store.findUserByEmail('ü0@bücher.example'))?.email, 'ü0@xn--bcher-kva.example')
  assert.equal(await store.findUserByEmail(email), undefined)
})

test('idle clients that registered themselves are removed with an event each, if a lifetime is set', async (t) => {
  const server = await openTestServer(t, {
    env: { GRANTOR_IDLE_CLIENT_LIFETIME: '200', GRANTOR_REFRESH_IDLE_LIFETIME: '100' },
  })
  const { store, auditRecorder } = server.context
  const token = (client: RegisteredClient) => requestToken(server, client, { grant_type: 'client_credentials' })
  const [idle, active, unused] = [
    await registerClient(server),
    await registerClient(server),
    await registerClient(server),
  ]
  const made = await perform<RegisteredClient>(server.context, 'client.create', { client_name: 'Nightly' })
  for (const client of [idle, active, made]) await token(client)
  await auditRecorder.flush()
  server.clock.advance(150_000)
  await token(active)
  server.clock.advance(60_000)
  await auditRecorder.flush()
  server.clock.advance(90_000)
  await sweepOnce(t, server, 1)
  const find = (client: RegisteredClient) => store.findClient(client.client_id as ClientId)
  while ((await find(idle)) !== undefined) await setImmediate()
  const left = await store.listClients({ before: undefined, limit: 9, source: 'registration' })
  assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([active.client_id, unused.client_id]))
  assert.notEqual(await find(made), undefined)
  const { events } = await perform<{
    readonly events: readonly { readonly client_id: string; readonly actor: string; readonly details: object }[]
  }>(server.context, 'audit.list', { event: 'client.deleted' })
  assert.deepEqual(
    events.map(({ client_id, actor, details }) => [client_id, actor, details]),
    [[idle.client_id, 'server', { reason: 'idle' }]],
  )
  assert.match(
    server.log(),
    new RegExp(`"client.deleted","client":"${idle.client_id}","actor":"server","reason":"idle"`),
  )
  const samples = (await server.sample(false)).filter(({ name }) => name === 'grantor_swept_rows_total')
  assert.partialDeepStrictEqual(
    samples.filter(({ labels }) => labels[0] === 'idleClients'),
    [{ value: 1 }],
  )
})

/** Advances the clock to the next sweep, and returns how many rows each of its `slices` slices removed. */
async function sweepOnce(t: TestContext, { context }: TestServer, slices: number): Promise<readonly Swept[]> {
  const ended = new EventEmitter()
  const counts: Swept[] = []
  const debug = (swept: Swept): void => {
    counts.push(swept)
    if (counts.length === slices) ended.emit('ended')
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const all = once(ended, 'ended')
  t.after(startSweeping({ ...context, monotonic: () => performance.now() }, { debug } as unknown as Log, () => true))
  t.mock.timers.tick(10_000)
  await all
  return counts
}
