import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_FAMILY_RULES, openFamilies } from '../../tools/agents/families.ts'
import { live, type Life, type Thief } from '../../tools/agents/life.ts'
import { DAY, makeFleet, makePerson, MINUTE } from '../../tools/agents/person.ts'
import { seededRandom } from '../../tools/agents/random.ts'
import { sum } from '../../tools/statistics.ts'

/** Agents in several processes, and thieves, against the rule of the SQLite store (decision 0054). Every seed is fixed. */

const USERS = 12
const DAYS = 20
const STRICT = { ...DEFAULT_FAMILY_RULES, copies: 'strict' } as const
const LOST = 0.004

function lives(rules: typeof DEFAULT_FAMILY_RULES): readonly Life[] {
  const families = openFamilies(rules)
  return seeds(USERS).map((seed) => liveOne(families, seed, DAYS, undefined))
}

function thefts(count: number, isNear: boolean): readonly NonNullable<Life['theft']>[] {
  const families = openFamilies(DEFAULT_FAMILY_RULES)
  return seeds(count).flatMap((seed) => {
    const at = (3 + 10 * seededRandom(seed * 31)()) * DAY
    const { theft } = liveOne(families, seed, 2 * DAYS, { at, isNear, isLazy: seed % 2 === 0 })
    return theft === undefined ? [] : [theft]
  })
}

function liveOne(
  families: ReturnType<typeof openFamilies>,
  seed: number,
  days: number,
  thief: Thief | undefined,
): Life {
  const person = makePerson(seed, days)
  return live(families, { person, seed, days, accessSeconds: 15 * MINUTE, lost: LOST, thief })
}

function seeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

test('AG-02: processes that share a sign-in sign in again 50 times less often than with strict copies', () => {
  const [network, strict] = [DEFAULT_FAMILY_RULES, STRICT].map((rules) => sum(lives(rules).map((one) => one.signIns)))
  assert.equal(network, 2)
  assert.ok(strict !== undefined && strict >= 100, String(strict))
})

test('AG-06: every thief elsewhere is cut off', () => {
  const all = thefts(96, false)
  assert.deepEqual([all.length, all.filter(({ isOver }) => isOver).length], [96, 96])
  assert.ok(all.some(({ wins }) => wins > 0))
  assert.ok(all.every(({ winsAfterUse }) => winsAfterUse === 0))
})

test('AG-02: sixteen processes with one store and two egress addresses never sign in again, if no answer is lost', () => {
  const families = openFamilies(DEFAULT_FAMILY_RULES)
  for (const store of ['shared', 'memory'] as const) {
    const person = makeFleet(store, 2, 1)
    const { signIns, refreshes } = live(families, { ...FLEET, person, lost: 0, thief: undefined })
    assert.equal(signIns, 0, store)
    assert.ok(refreshes > 200, String(refreshes))
  }
})

const FLEET = { seed: 1, days: 1, accessSeconds: 5 * MINUTE } as const
