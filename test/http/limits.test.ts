import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openBudgets } from '../../src/http/limits.ts'
import { networkOf } from '../../src/http/network.ts'
import type { EpochMs } from '../../src/base/brand.ts'

const START = 1_800_000_000_000

function at(seconds: number): EpochMs {
  return (START + seconds * 1000) as EpochMs
}

function openFor(perMinute: number) {
  return openBudgets({
    registration: perMinute,
    authorization: perMinute,
    'client-authentication': perMinute,
    'stored-token': perMinute,
  })
}

test('REG-19: a network may use its whole rate in a burst, and the budget refills steadily', () => {
  const budgets = openFor(6)
  const take = (seconds: number) => budgets.take('registration', 'a', at(seconds))
  for (let left = 5; left >= 0; left -= 1) {
    const outcome = take(0)
    assert.deepEqual([outcome.isWithin, outcome.limit, outcome.remaining], [true, 6, left])
  }
  assert.deepEqual(take(0), { isWithin: false, limit: 6, remaining: 0, resetSeconds: 10 })
  assert.equal(take(9).isWithin, false)
  assert.equal(take(10).isWithin, true)
  assert.equal(take(10).isWithin, false)
  assert.equal(take(31).remaining, 1)
})

test('REG-19: requests while refused do not prolong the wait, and a long wait gives no more than the burst', () => {
  const budgets = openFor(1)
  const take = (seconds: number) => budgets.take('registration', 'a', at(seconds)).isWithin
  assert.equal(take(0), true)
  for (let second = 1; second < 60; second += 1) assert.equal(take(second), false, String(second))
  assert.equal(take(60.001), true)
  assert.equal(take(100_000), true)
  assert.equal(take(100_000), false)
})

test('REG-19: each name and each network has a budget of its own', () => {
  const budgets = openFor(1)
  assert.equal(budgets.take('registration', 'a', at(0)).isWithin, true)
  assert.equal(budgets.take('registration', 'a', at(0)).isWithin, false)
  assert.equal(budgets.take('registration', 'b', at(0)).isWithin, true)
  assert.equal(budgets.take('client-authentication', 'a', at(0)).isWithin, true)
})

test('STO-13: a clock that is set back does not change a budget', () => {
  const budgets = openFor(2)
  assert.equal(budgets.take('registration', 'a', at(0)).remaining, 1)
  assert.equal(budgets.take('registration', 'a', at(-3600)).remaining, 0)
  assert.equal(budgets.take('registration', 'a', at(-3600)).isWithin, false)
})

test('REG-19: ten thousand addresses of one /64 count as one network', () => {
  const networks = new Set(
    Array.from({ length: 10_000 }, (_, index) => networkOf(`2001:db8:1:2:${index.toString(16)}::1`)),
  )
  assert.equal(networks.size, 1)
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
})

test('REG-19: all spellings of an address count as one network', () => {
  const families = [
    [
      '192.0.2.7',
      '::ffff:192.0.2.7',
      '::FFFF:192.0.2.7',
      '::ffff:c000:207',
      '0:0:0:0:0:ffff:192.0.2.7',
      '::ffff:c000:0207',
      '64:ff9b::192.0.2.7',
      '64:ff9b:1::c000:207',
      '::ffff:0:192.0.2.7',
      '2002:c000:207::1',
      '2002:c000:207:ffff:1:2:3:4',
      '2001:0:cb00:7109:8000:63bf:3fff:fdf8',
      '2001::1:3fff:fdf8',
    ],
    ['64:ff9b:1:2::c000:207', '64:FF9B:1:2:0:0:192.0.2.7'],
    ['64:ff9b:1:2::c000:208'],
    ['64:ff9b:1:c000:2:700::'],
    ['64:ff9b:2::c000:207', '64:ff9b:2::c000:208'],
    [
      '2001:db8::1',
      '2001:DB8::1',
      '2001:0db8:0000:0000:0000:0000:0000:0001',
      '2001:db8:0:0:1::',
      '2001:db8::192.0.2.7',
    ],
    ['::1', '0:0:0:0:0:0:0:1', '::0.0.0.1'],
    ['fe80::1', 'fe80::1%eth0', 'FE80:0:0:0::2%1'],
    ['2001:db8:1:2::', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:192.0.2.7'],
  ]
  for (const family of families) assert.deepEqual(new Set(family.map(networkOf)).size, 1, family.join(' '))
  assert.equal(new Set(families.map(([first = '']) => networkOf(first))).size, families.length)
})

test('REG-19: two IPv4 addresses are never one network, in any spelling', () => {
  const property = fc.property(fc.ipV4(), fc.ipV4(), (left, right) => {
    for (const prefix of ['::ffff:', '64:ff9b::', '64:ff9b:1::'])
      assert.equal(networkOf(left) === networkOf(prefix + right), left === right)
    for (const prefix of ['64:ff9b:1:2:3:4:', '64:ff9b:1:ffff::'])
      assert.equal(networkOf(prefix + left) === networkOf(prefix + right), left === right)
  })
  fc.assert(property)
})

test('REG-19: two IPv6 addresses are one network when their first 64 bits are', () => {
  const group = fc.integer({ min: 0x100, max: 0xffff }).map((number) => number.toString(16))
  const halves = fc.tuple(group, group, group, group)
  const property = fc.property(halves, halves, halves, (network, left, right) => {
    const of = (host: readonly string[]) => networkOf([...network, ...host].join(':'))
    assert.equal(of(left), of(right))
    assert.notEqual(networkOf([...left, ...network].join(':')) === of(left), left.join() !== network.join())
  })
  fc.assert(property)
})
