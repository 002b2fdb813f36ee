import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBudgets, type NodeBudgets } from '../../src/http/limits.ts'
import { shareOnce } from '../../src/http/share-budgets.ts'
import { SERVER_POOL } from '../../src/ports/budgets.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { openBatchingStore } from '../../src/store/batching-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/server.ts'

/** The start of a minute, and of a window of 15 minutes. */
const START = 1_800_000_000_000
/** With the default rate of a network: what a host and the server admit in the first minute. */
const [HOST, SERVER] = [600, 6000]
const RATES = { registration: 60, authorization: 600, 'client-authentication': 60, 'stored-token': 6000 }
const HOSTILE_NETWORKS = 10_000

/** A /64 of one of a thousand /48, all in one /32. */
function hostile(index: number): string {
  return `2001:db8:${(index % 1000).toString(16)}:${Math.floor(index / 1000).toString(16)}::/64`
}

/** One new client with one redirect host, which counts against the host and the server as the endpoint does it. */
function register(budgets: NodeBudgets, network: string, host: string | undefined, now: number): boolean {
  const time = now as EpochMs
  if (!budgets.take('registration', network, time).isWithin) return false
  if (host !== undefined && !budgets.take('registration-host', host, time, network).isWithin) return false
  return budgets.take('registration-server', SERVER_POOL, time, network).isWithin
}

/** 100,000 registrations in one minute. Returns how many passed. */
function flood(budgets: NodeBudgets, hostOf: (index: number) => string | undefined, start = START): number {
  let passed = 0
  for (let index = 0; index < 100_000; index += 1) {
    const network = hostile(index % HOSTILE_NETWORKS)
    if (register(budgets, network, hostOf(index), start + Math.floor(index * 0.59))) passed += 1
  }
  return passed
}

test('FLOOD-01: a flood with one redirect host stays within the budget of the host, and another host registers at once', () => {
  const budgets = openBudgets(RATES)
  const passed = flood(budgets, () => 'evil.example')
  assert.ok(passed >= HOST / 2 && passed <= HOST * 1.5, String(passed))
  assert.equal(register(budgets, '192.0.2.1', 'app.example', START + 59_000), true)
})

test('FLOOD-01: a flood with ever new hosts stays within the budget of the server', () => {
  const budgets = openBudgets(RATES)
  const passed = flood(budgets, (index) => `h${index}.example`)
  assert.ok(passed >= SERVER / 2 && passed <= SERVER * 1.5, String(passed))
})

for (const [kind, host] of [
  ['of a known client', 'claude.ai'],
  ['on loopback, which have none,', undefined],
] as const) {
  test(`FLOOD-03: while a flood uses redirect hosts ${kind} other networks still register with them`, () => {
    const budgets = openBudgets(RATES)
    for (const minute of [0, 1, 2]) {
      const start = START + minute * 60_000
      flood(budgets, () => host, start)
      const others = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db9::/64']
      for (const network of others) assert.equal(register(budgets, network, host, start + 59_500), true, network)
    }
  })
}

test('FLOOD-03: networks beside the flood, in the same /32, still register', () => {
  const budgets = openBudgets(RATES)
  flood(budgets, () => undefined)
  assert.equal(register(budgets, '2001:db8:ffff:1::/64', undefined, START + 59_500), true)
})

test('a registration that is given back counts neither for the host nor for the server', () => {
  const budgets = openBudgets(RATES)
  const now = START as EpochMs
  for (let index = 0; index < 10_000; index += 1) {
    for (const [budget, name] of [
      ['registration-host', 'app.example'],
      ['registration-server', SERVER_POOL],
    ] as const) {
      assert.equal(budgets.take(budget, name, now, '192.0.2.1').isWithin, true)
      budgets.giveBack(budget, name, now, '192.0.2.1')
    }
  }
  assert.deepEqual(
    budgets
      .takeUnreported(10)
      .map(({ requests }) => requests)
      .filter((requests) => requests > 0),
    [],
  )
})

test('FLOOD-04: two nodes share the budgets of a host and of the server within two seconds', async (t) => {
  const driver = openSqliteStore({
    path: join(temporaryFolder(t), 'grantor.db'),
    patienceMs: 10_000,
    checkpoints: 'inline',
  })
  t.after(() => driver.close())
  const store = openBatchingStore(driver)
  const secrets = openSecrets('a root secret of many characters, for tests')
  const [here, there] = [openBudgets(RATES), openBudgets(RATES)]
  const early = (budgets: NodeBudgets, now: number): readonly number[] => [
    budgets.take('registration-host', 'app.example', now as EpochMs, '192.0.2.1').remaining,
    budgets.take('registration-server', SERVER_POOL, now as EpochMs, '192.0.2.1').remaining,
  ]
  assert.deepEqual(early(there, START), [HOST / 2 - 1, SERVER / 2 - 1])
  for (let index = 0; index < SERVER; index += 1) register(here, hostile(index), 'app.example', START + 1000)
  for (let index = 0; index < SERVER; index += 1) register(here, hostile(index), undefined, START + 1000)
  for (const now of [START + 1000, START + 2000])
    for (const budgets of [here, there]) await shareOnce(budgets, { clock: () => now as EpochMs, secrets, store })
  // What was refilled in the two seconds is left.
  const [host = 0, server = 0] = early(there, START + 2000)
  assert.ok(host < HOST / 60 && server < SERVER / 60, `${host} and ${server}`)
  let passed = 0
  for (let index = 0; index < SERVER; index += 1)
    if (register(there, hostile(index), undefined, START + 2000)) passed += 1
  assert.ok(passed <= SERVER / 2 + server, `This node admits only the fair shares: ${passed}`)
  assert.equal(register(there, '192.0.2.7', 'app.example', START + 2000), true)
})
