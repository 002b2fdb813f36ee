import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBudgets, type NodeBudgets } from '../../src/http/limits.ts'
import { shareOnce, startSharing } from '../../src/http/share-budgets.ts'
import { StoreUnavailable, type Store } from '../../src/ports/store.ts'
import type { Hit } from '../../src/ports/operations/server.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { openBatchingStore } from '../../src/store/batching-store.ts'
import { temporaryFolder } from '../support/server.ts'

/** The start of a window. */
const START = 1_800_000_000_000
const secrets = openSecrets('a root secret of many characters, for tests')

type CountHit = Store['countHit']
/** No test of this file registers clients. */
const countRegistrations = (): Promise<never> => Promise.reject(new Error('Nothing was registered.'))

function openNodes(count: number, perMinute: number): readonly NodeBudgets[] {
  const rates = {
    registration: perMinute,
    authorization: perMinute,
    'client-authentication': perMinute,
    'stored-token': perMinute,
  }
  return Array.from({ length: count }, () => openBudgets(rates))
}

/** An implementation of the store's countHit in memory, which also keeps every hit. */
function openCounter(): { readonly countHit: CountHit; readonly hits: Hit[] } {
  const counts = new Map<string, number>()
  const hits: Hit[] = []
  return {
    hits,
    countHit: async (hit) => {
      hits.push(hit)
      const start = hit.now - (hit.now % hit.windowMs)
      const count = (counts.get(`${hit.bucket} ${start}`) ?? 0) + hit.by
      counts.set(`${hit.bucket} ${start}`, count)
      return { count, windowEndsAt: (start + hit.windowMs) as EpochMs }
    },
  }
}

/** Nodes whose clock advances by one second each time that `second` is called. */
function openCluster(nodes: readonly NodeBudgets[], countHit: CountHit) {
  let now = START as EpochMs
  return {
    take: (node: number, network = 'a') => nodes[node]?.take('registration', network, now),
    second: async (): Promise<void> => {
      now = (now + 1000) as EpochMs
      for (const budgets of nodes)
        await shareOnce(budgets, { clock: () => now, secrets, store: { countHit, countRegistrations } })
    },
  }
}

/** Each second, sends requests to every node until it refuses one. Returns how many requests were admitted. */
async function askForMinutes(
  { nodes, perMinute, minutes }: { readonly nodes: number; readonly perMinute: number; readonly minutes: number },
  countHit: CountHit = openCounter().countHit,
): Promise<number> {
  const { take, second } = openCluster(openNodes(nodes, perMinute), countHit)
  let passed = 0
  for (let elapsed = 0; elapsed < minutes * 60; elapsed += 1) {
    for (let node = 0; node < nodes; node += 1) while (take(node)?.isWithin === true) passed += 1
    await second()
  }
  return passed
}

test('decision 0021: three nodes together admit as many requests as one node, after a larger burst', async () => {
  const alone = await askForMinutes({ nodes: 1, perMinute: 60, minutes: 20 })
  const together = await askForMinutes({ nodes: 3, perMinute: 60, minutes: 20 })
  assert.equal(alone, 60 + 20 * 60 - 1)
  assert.ok(together >= alone * 0.9 && together <= alone * 1.2, `${together} and ${alone}`)
})

test('decision 0021: requests that another node admits are deducted on this node within a second', async () => {
  const { take, second } = openCluster(openNodes(2, 60), openCounter().countHit)
  for (let request = 0; request < 40; request += 1) take(0)
  assert.equal(take(1)?.remaining, 59, 'The other node has not reported its requests yet.')
  await second()
  // Of 60 credits this node used one and the other forty. One was refilled, and one is used now.
  assert.equal(take(1)?.remaining, 19)
  assert.equal(take(0)?.remaining, 20, 'This node reported first, before the other node had reported anything.')
  await second()
  assert.equal(take(0)?.remaining, 19)
})

test('the requests of other nodes are deducted once, in this window and over its end', async () => {
  const { take, second } = openCluster(openNodes(2, 60), openCounter().countHit)
  for (let request = 0; request < 30; request += 1) take(0)
  take(1)
  await second()
  for (let elapsed = 0; elapsed < 90; elapsed += 1) {
    take(1)
    await second()
  }
  // This node used one credit a second and one was refilled each second. The thirty of the other node are still missing.
  assert.equal(take(1)?.remaining, 29)
})

test('a caller that stays within the rate over all nodes is never refused', async () => {
  const { take, second } = openCluster(openNodes(3, 60), openCounter().countHit)
  for (let elapsed = 0; elapsed < 300; elapsed += 1) {
    assert.equal(take(elapsed % 3)?.isWithin, true, `second ${elapsed}`)
    await second()
  }
})

test('each network and each budget is counted separately, and no address reaches the store', async () => {
  const { countHit, hits } = openCounter()
  const [first, second] = openNodes(2, 60) as [NodeBudgets, NodeBudgets]
  const now = START as EpochMs
  for (const budgets of [first, second]) {
    budgets.take('registration', '192.0.2.1', now)
    budgets.take('registration', '192.0.2.2', now)
    budgets.take('authorization', '192.0.2.1', now)
    await shareOnce(budgets, { clock: () => now, secrets, store: { countHit, countRegistrations } })
  }
  assert.equal(new Set(hits.map(({ bucket }) => bucket)).size, 3)
  assert.equal(hits.length, 6)
  assert.doesNotMatch(JSON.stringify(hits), /192\.0\.2/)
  assert.equal(second.take('registration', '192.0.2.1', now).remaining, 57)
  assert.equal(second.take('client-authentication', '192.0.2.1', now).remaining, 59)
})

test('while the store fails the local budgets stay as they are, and all usage is reported when it works again', async () => {
  const { countHit, hits } = openCounter()
  let isBroken = true
  const { take, second } = openCluster(openNodes(2, 60), (hit) =>
    isBroken ? Promise.reject(new StoreUnavailable('planted')) : countHit(hit),
  )
  for (let request = 0; request < 10; request += 1) take(0)
  await second()
  assert.equal(take(0)?.remaining, 50)
  isBroken = false
  await second()
  assert.deepEqual(
    hits.map(({ by }) => by),
    [11],
  )
  take(1)
  await second()
  assert.equal(take(1)?.remaining, 60 - 1 - 11 + 1 - 1)
})

test('a second without requests writes nothing, and requests from many networks write only the busiest thousand', async () => {
  const { countHit, hits } = openCounter()
  const { take, second } = openCluster(openNodes(1, 60), countHit)
  await second()
  assert.equal(hits.length, 0)
  for (let network = 0; network < 3000; network += 1) take(0, String(network))
  for (let network = 2500; network < 3000; network += 1) take(0, String(network))
  await second()
  assert.equal(hits.length, 1000)
  assert.equal(hits.filter(({ by }) => by === 2).length, 500)
  await second()
  await second()
  await second()
  assert.equal(hits.length, 3000, 'The others follow.')
})

test('sharing runs once a second, only one round at a time, and can be stopped', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const [budgets] = openNodes(1, 60) as [NodeBudgets]
  const waiting: (() => void)[] = []
  const countHit: CountHit = () =>
    new Promise((resolve) => waiting.push(() => resolve({ count: 1, windowEndsAt: START as EpochMs })))
  const clock = (): EpochMs => START as EpochMs
  const stop = startSharing(budgets, { clock, secrets, store: { countHit, countRegistrations } })
  const tick = async (): Promise<void> => {
    budgets.take('registration', 'a', clock())
    t.mock.timers.tick(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await tick()
  await tick()
  assert.equal(waiting.length, 1, 'The store has not answered yet.')
  waiting[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  await tick()
  assert.equal(waiting.length, 2)
  waiting[1]?.()
  await new Promise((resolve) => setImmediate(resolve))
  stop()
  await tick()
  assert.equal(waiting.length, 2)
})

test('two nodes on one store share one rate limit', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const driver = openSqliteStore({ path, patienceMs: 10_000, checkpoints: 'inline' })
  t.after(() => driver.close())
  const passed = await askForMinutes({ nodes: 2, perMinute: 6, minutes: 5 }, openBatchingStore(driver).countHit)
  // Without sharing, each node would admit 36.
  assert.ok(passed >= 33 && passed <= 42, String(passed))
})
