import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'

import { test } from 'node:test'
import type { Log } from '../src/log.ts'
import type { Swept } from '../src/ports/operation-inputs.ts'
import { startSweeping } from '../src/start-sweeping.ts'
import { declareApi, knowApis, OPAQUE_API } from './endpoints/api-stage.ts'
import { registerClient, requestToken } from './flow.ts'
import { openTestServer } from './server.ts'
import { selectAll } from './storage/dump.ts'

test('opaque tokens that expired by the hundred are all removed at once, a slice after the other', async (t) => {
  const server = await openTestServer(t)
  await declareApi(server, OPAQUE_API, { format: 'opaque', lifetime: 60 })
  knowApis(server)
  const client = await registerClient(server)
  const form = { grant_type: 'client_credentials', resource: OPAQUE_API }
  const ask = () => requestToken(server, client, form)
  for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 90 }, ask))
  server.clock.advance(61_000)
  await ask()
  const slices = new EventEmitter()
  const counts: number[] = []
  const debug = ({ opaqueTokens }: Swept): void => {
    counts.push(opaqueTokens)
    if (counts.length === 3) slices.emit('three')
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const three = once(slices, 'three')
  t.after(startSweeping(server.context, { debug } as unknown as Log))
  t.mock.timers.tick(10_000)
  await three
  assert.deepEqual(counts, [200, 200, 50])
  assert.equal(selectAll(server, 'select * from opaque_tokens').length, 1)
})
