import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floodProvider } from '../../prove/flood/providers.ts'

test('UP-28: while strangers make up codes, other people sign in at the provider of a server process', async () => {
  const { signedInMs, refused, madeUp } = await floodProvider({
    strangers: { from: 'site', areKnown: false },
    seconds: 1,
    latency: 200,
    atOnce: 24,
  })
  assert.deepEqual([...refused], [])
  assert.ok(signedInMs.length > 0 && (madeUp.get(403) ?? 0) > 0, JSON.stringify([...madeUp]))
})
