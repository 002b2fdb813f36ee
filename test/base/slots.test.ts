import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSlots } from '../../src/base/slots.ts'

const WAITING = 512

test('OUT-12: slots are bounded in all and for each host; a waiter gets the first one that is free, or gives up', async () => {
  const slots = openSlots({ total: 3, perHost: 2, waiting: WAITING })
  const patient = new AbortController().signal
  const impatience = new AbortController()
  const [first, , other] = await Promise.all(['a', 'a', 'b'].map((host) => slots.take(host, 'network', patient)))
  const started: string[] = []
  const waiting = ['a', 'b', 'c'].map((host) =>
    slots.take(host, 'network', host === 'c' ? impatience.signal : patient).then((free) => {
      started.push(free === undefined ? `${host} gave up` : host)
    }),
  )
  other?.()
  await waiting[1]
  assert.deepEqual(started, ['b'], 'host a has its two already')
  impatience.abort()
  await waiting[2]
  first?.()
  await waiting[0]
  assert.deepEqual(started, ['b', 'c gave up', 'a'])
  assert.equal(await slots.take('d', 'network', impatience.signal), undefined)
})

for (const networks of [1, 3, 8, 40]) {
  test(`UP-28: while ${networks} networks have hundreds of requests waiting, another one gets the next free slot of the host or of all`, async () => {
    for (const [total, perHost] of [
      [64, 16],
      [16, 16],
      [32, 2],
      [2, 2],
    ] as const) {
      const slots = openSlots({ total, perHost, waiting: WAITING })
      const order: string[] = []
      const held: (() => void)[] = []
      const take = async (host: string, network: string): Promise<void> => {
        const free = await slots.take(host, network, new AbortController().signal)
        if (free === undefined) return
        order.push(network)
        held.push(free)
      }
      for (let index = 0; index < 400; index += 1) void take('host', `hostile-${index % networks}`)
      await nextTurn()
      assert.equal(held.length, perHost)
      void take('host', 'other')
      // Networks that wait without holding a slot come before it, each once.
      for (let freed = 0; freed < Math.max(1, networks - perHost + 1); freed += 1) {
        held.shift()?.()
        await nextTurn()
      }
      assert.ok(order.includes('other'), `${total} ${perHost}`)
    }
  })
}

/** Strangers with many networks of one site, and another person's network. The two share the wider networks that are not named. */
const SITES: readonly (readonly [what: string, hostile: (index: number) => string, other: string])[] = [
  ['an IPv6 /32', (index) => `2001:db8:${index.toString(16)}:1::/64`, '2001:db9:0:1::/64'],
  ['an IPv6 /48', (index) => `2001:db8:1:${index.toString(16)}::/64`, '2001:db8:2:1::/64'],
  ['an IPv4 /16', (index) => `203.0.${index % 256}.${index >> 8}`, '203.1.0.1'],
  ['an IPv4 /24', (index) => `203.0.113.${index % 256}`, '203.0.114.1'],
]

for (const [what, hostile, other] of SITES) {
  test(`UP-28: while the networks of ${what} have hundreds of requests waiting, one of another site gets the next free slot`, async () => {
    const slots = openSlots({ total: 64, perHost: 16, waiting: WAITING })
    const ended: string[] = []
    const held: (() => void)[] = []
    const take = (network: string): void =>
      void slots.take('host', network, new AbortController().signal).then((free) => {
        ended.push(`${network} ${free === undefined ? 'gave up' : 'started'}`)
        if (free !== undefined) held.push(free)
      })
    for (let index = 0; index < 600; index += 1) take(hostile(index))
    take(other)
    for (let index = 600; index < 1200; index += 1) take(hostile(index))
    await nextTurn()
    assert.deepEqual([held.length, ended.some((one) => one.startsWith(other))], [16, false])
    held.shift()?.()
    await nextTurn()
    assert.equal(ended.at(-1), `${other} started`)
  })
}

test('UP-28: when too many requests wait, the newest of the network with the most of them gives up', async () => {
  const slots = openSlots({ total: 1, perHost: 1, waiting: WAITING })
  const ended: string[] = []
  const take = (network: string): void =>
    void slots
      .take('host', network, new AbortController().signal)
      .then((free) => ended.push(`${network} ${free === undefined ? 'gave up' : 'started'}`))
  for (let index = 0; index < 513; index += 1) take('hostile')
  await nextTurn()
  assert.deepEqual(ended, ['hostile started'])
  for (let index = 0; index < 100; index += 1) take('other')
  await nextTurn()
  assert.deepEqual(new Set(ended.slice(1)), new Set(['hostile gave up']))
  assert.equal(ended.length, 101)
})
