import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Log } from '../../src/server/log.ts'
import { startKeepingKeys } from '../../src/server/keys.ts'
import { openStillClocks } from '../support/clocks.ts'
import { openTestServer } from '../support/server.ts'

const DAY = 24 * 60 * 60 * 1000

type Line = Readonly<Record<string, unknown>>

/** Runs the server's work of each minute on a store that may fail. Returns the lines that the next minute logs. */
async function openWatchedKeys(t: TestContext, isAway: () => boolean) {
  const [clock] = openStillClocks([0])
  const { context } = await openTestServer(t, { clock })
  const [first] = await context.store.listKeys()
  let hear: (line: Line) => void = () => undefined
  const log = { info: (line: Line) => hear(line), error: (line: Line) => hear(line) } as unknown as Log
  const listKeys = async () => {
    if (isAway()) throw new Error('away')
    return context.store.listKeys()
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  t.after(startKeepingKeys({ ...context, store: { ...context.store, listKeys } }, log))
  return {
    clock,
    first,
    nextLine: () =>
      new Promise<Line>((resolve) => {
        hear = resolve
        t.mock.timers.tick(60_000)
      }),
  }
}

test('a server creates and withdraws keys over time, and logs which', async (t) => {
  const { clock, first, nextLine } = await openWatchedKeys(t, () => false)
  clock.advance(29 * DAY)
  const made = await nextLine()
  assert.deepEqual([made['event'], made['active_from']], ['key.added', clock.now() + DAY])
  clock.advance(3 * DAY)
  assert.deepEqual(await nextLine(), { event: 'key.removed', key: first?.id })
})

test('a minute in which the keys cannot be read is logged, and the next minute continues the work', async (t) => {
  let isAway = true
  const { clock, nextLine } = await openWatchedKeys(t, () => isAway)
  clock.advance(40 * DAY)
  assert.equal((await nextLine())['event'], 'key.rotation-failed')
  isAway = false
  assert.equal((await nextLine())['event'], 'key.added')
})
