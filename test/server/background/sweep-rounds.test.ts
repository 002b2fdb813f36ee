import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sweepRounds } from '../../../src/server/background/sweep-rounds.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { execute, selectAll } from '../../support/store/dump.ts'

const HOUR_MS = 3_600_000
const SLICE = 200

/** A server with 1,000 grants, of which every tenth is over, or the first ones. `goOn`: sweeps so many slices and returns how long that takes. */
async function openRounds(t: TestContext, { overFirst = 0, counted = 0 }) {
  const server = await openTestServer(t)
  fill(server, overFirst)
  const grants = { finished: { counts: { live: counted, over: 0 }, begunAt: 0, endedAt: 0, countedMs: 0 } }
  await server.context.store.replaceSetting({ name: 'row-counts', value: JSON.stringify({ grants }) })
  const state = { monotonic: 1, grantSlices: 0 }
  const { sweepGrants } = server.context.store
  async function goOn(slices: number): Promise<number> {
    const [from, startedAt] = [state.grantSlices, state.monotonic]
    const rounder = {
      ...server.context,
      store: {
        ...server.context.store,
        sweepGrants(slice: Parameters<typeof sweepGrants>[0]) {
          state.grantSlices += 1
          return sweepGrants(slice)
        },
      },
      monotonic: () => state.monotonic,
      pause: async (milliseconds: number) => void (state.monotonic += milliseconds),
    }
    await sweepRounds(rounder, () => state.grantSlices < from + slices)
    return state.monotonic - startedAt
  }
  const left = () => selectAll(server, 'select grant_id from grants').length
  return { server, goOn, left }
}

function fill(server: TestServer, overFirst: number): void {
  execute(
    server,
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < 999)
     insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
     select printf('%012x%022d', ?1 - 86400000 + i, i), 'gci_', 'gus_', '', '[]', ?1,
       case when i < ?2 or i % 10 = 9 then ?1 - 1 else ?1 + 60000 end
     from n`,
    server.clock.now(),
    overFirst,
  )
}

test('a round takes less than 25 hours, however many rows there are, and a slice waits for ten seconds at most', async (t) => {
  for (const [counted, slices] of [
    [0, 8_640],
    [10_000_000, 50_000],
    [100_000_000, 500_000],
  ] as const) {
    const { goOn, left } = await openRounds(t, { counted })
    const waitedMs = await goOn(5)
    assert.equal(left(), 900)
    const dayMs = (waitedMs / 5) * slices
    assert.ok(dayMs > 18 * HOUR_MS && dayMs < 25 * HOUR_MS, `${counted} rows: ${dayMs / HOUR_MS} hours`)
  }
})

test('hundreds of grants that are over are removed at once, and the others are examined in steps', async (t) => {
  const { goOn, left } = await openRounds(t, { overFirst: 500 })
  assert.ok((await goOn(3)) < 1000)
  assert.equal(left(), 1000 - 500 - 10)
  assert.ok((await goOn(2)) >= 10_000)
})

test('a round goes on where another node or the process before it was, and begins again at its end', async (t) => {
  const { server, goOn, left } = await openRounds(t, { counted: 1 })
  await goOn(12 + 1)
  assert.equal(left(), 900)
  const stored = async () => (await server.context.store.findSweepRounds())?.grants
  const { after = '', examined = 0 } = (await stored()) ?? {}
  assert.ok(after !== '' && examined > 0 && examined % SLICE === 0, `${after}, ${examined}`)
  execute(server, 'update grants set expires_at = 0 where grant_id > ?', after)
  const behind = selectAll(server, 'select grant_id from grants where grant_id > ?', after).length
  const slices = Math.ceil(behind / SLICE)
  await goOn(slices)
  assert.equal(left(), 900 - behind, 'the next process begins behind the place')
})
