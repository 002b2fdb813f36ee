import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFairShares } from '../../src/http/fair-shares.ts'
import { openBudgets } from '../../src/http/limits.ts'
import type { EpochMs } from '../../src/base/brand.ts'

/** The start of a minute. */
const START = 1_800_000_000_000
const MINUTE = 60_000
const PER_MINUTE = 3000

const minute = (index: number): EpochMs => (START + index * MINUTE) as EpochMs

/** How many of `count` requests of a network pass. */
function ask({ admit }: ReturnType<typeof openFairShares>, network: string, now: EpochMs, count: number): number {
  let passed = 0
  for (let request = 0; request < count; request += 1) if (admit(network, now)) passed += 1
  return passed
}

test('BND-02: while the server has room, a network may exceed its share', () => {
  const shares = openFairShares(PER_MINUTE)
  assert.equal(ask(shares, '192.0.2.1', minute(0), PER_MINUTE / 2), PER_MINUTE / 2)
})

const HOSTILE: readonly (readonly [whose: string, networkOf: (index: number) => string])[] = [
  ['one address', () => '198.51.100.1'],
  ['a /48 of IPv6', (index) => `2001:db8:1:${(index % 65_536).toString(16)}::/64`],
  ['a /32 of IPv6', (index) => `2001:db8:${(index % 65_536).toString(16)}:1::/64`],
  ['a /24 of IPv4', (index) => `198.51.100.${index % 256}`],
  ['a /16 of IPv4', (index) => `198.51.${Math.floor(index / 256) % 256}.${index % 256}`],
  ['a hundred /24 anywhere', (index) => `${100 + (index % 100)}.7.9.${index % 256}`],
]
for (const [whose, networkOf] of HOSTILE) {
  test(`BND-02: ${whose} that uses up its share does not lock out other networks`, () => {
    const shares = openFairShares(PER_MINUTE)
    for (let index = 0; index < 2; index += 1) {
      let hostile = 0
      for (let request = 0; request < 6000; request += 1) hostile += ask(shares, networkOf(request), minute(index), 1)
      const others = Array.from({ length: 5 }, (_, place) => `203.0.113.${place}`)
      for (const network of [...others, '2001:db9:1:1::/64', '2a00:1::/64'])
        assert.ok(ask(shares, network, minute(index), 1) === 1, `${network} in minute ${index}`)
      assert.ok(hostile <= PER_MINUTE, String(hostile))
    }
  })
}

test('BND-02: a neighbour of a hostile /48 or /24 in the same /32 or /16 has a share', () => {
  const shares = openFairShares(PER_MINUTE)
  for (let index = 0; index < 6000; index += 1) {
    shares.admit(`2001:db8:1:${(index % 65_536).toString(16)}::/64`, minute(0))
    shares.admit(`198.51.100.${index % 256}`, minute(0))
  }
  for (const neighbour of ['2001:db8:2:1::/64', '198.51.7.1']) assert.ok(shares.admit(neighbour, minute(0)), neighbour)
})

test('BND-02: for any number of networks, the requests that pass in ten minutes are limited by the rate of the server', () => {
  for (const widths of [1, 7, 300, 5000]) {
    const shares = openFairShares(PER_MINUTE)
    let passed = 0
    for (let index = 0; index < 10; index += 1)
      for (let request = 0; request < 5000; request += 1) {
        const wide = request % widths
        const network = `${wide % 256}.${Math.floor(wide / 256)}.${request % 256}.${request % 7}`
        passed += ask(shares, network, minute(index), 1)
      }
    assert.ok(passed <= PER_MINUTE * 11, `${passed} of ${widths}`)
    assert.ok(passed >= (PER_MINUTE / 2) * 10, `${passed} of ${widths}`)
  }
})

test('STO-13: shares keep working when the clock jumps, forward or back', () => {
  const shares = openFairShares(PER_MINUTE)
  for (const index of [0, 100_000, 1, 2]) {
    ask(shares, '198.51.100.1', minute(index), 4000)
    assert.ok(shares.admit('203.0.113.1', minute(index)), String(index))
  }
})

test('BND-02: a network without room in its share is asked to retry in the next minute', () => {
  const rates = { registration: 60, authorization: 10, 'client-authentication': 60, 'stored-token': 60 }
  const budgets = openBudgets(rates)
  const now = (START + 20_000) as EpochMs
  const take = (network: string) => budgets.take('authorization', network, now)
  for (let index = 0; index < 100; index += 1) take(`198.51.100.${index}`)
  assert.deepEqual(take('198.51.100.200'), { isWithin: false, limit: 10, remaining: 10, resetSeconds: 40 })
  assert.equal(take('203.0.113.1').isWithin, true)
  assert.equal(budgets.take('authorization', '198.51.100.200', minute(1)).isWithin, true)
})
