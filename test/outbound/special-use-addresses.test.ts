import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress, mayBePrivate, SPECIAL_USE_RANGES } from '../../src/outbound/special-use-addresses.ts'

/** The first and the last address of a range, as numbers. */
function boundsOf(range: string): { readonly first: bigint; readonly last: bigint; readonly bits: 32 | 128 } {
  const [address = '', length] = range.split('/')
  const bits = address.includes(':') ? 128 : 32
  const size = 1n << BigInt(bits - Number(length))
  const first = numberOf(address)
  return { first, last: first + size - 1n, bits }
}

function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const [left = [], right = []] = address.split('::', 2).map((half) => half.split(':').filter((group) => group !== ''))
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

function textOf(value: bigint, bits: 32 | 128): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 65_535n)
  return groups.map((group) => group.toString(16)).join(':')
}

const PUBLIC = ['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '223.255.255.255']
const PUBLIC_IPV6 = ['2001:200::1', '2606:4700::1111', '2a00:1450:4001::1', '3ffe:ffff::1']

test('OUT-01: every range of special-use addresses is refused, and so is each IPv6 address that contains one of them', () => {
  assert.ok(SPECIAL_USE_RANGES.length > 30)
  for (const { range } of SPECIAL_USE_RANGES) {
    const { first, last, bits } = boundsOf(range)
    for (const value of [first, first + 1n, (first + last) / 2n, last - 1n, last]) {
      if (value < first || value > last) continue
      const address = textOf(value, bits)
      assert.equal(isPublicAddress(address), false, `${address} of ${range}`)
      if (bits === 128) continue
      const hex = textOf(value, 128).split(':').slice(-2).join(':')
      for (const embedding of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${address}`, `64:ff9b::${hex}`])
        assert.equal(isPublicAddress(embedding), false, `${embedding} of ${range}`)
      assert.equal(isPublicAddress(`2002:${hex}::1`), false, `6to4 of ${address}`)
      assert.equal(isPublicAddress(`::${address}`), false, `IPv4-compatible ${address}`)
    }
  }
})

test('OUT-01: addresses of the internet are public, also where an IPv6-only network translates them', () => {
  for (const address of PUBLIC)
    for (const spelled of [address, `::ffff:${address}`, `64:ff9b::${address}`])
      assert.equal(isPublicAddress(spelled), true, spelled)
  for (const address of PUBLIC_IPV6) assert.equal(isPublicAddress(address), true, address)
})

test('OUT-01: IPv6 addresses outside global unicast, and texts that are no address, are refused', () => {
  const others = ['4000::1', '8000::1', 'e000::1', '1000::1', '::ffff:0:1.1.1.1', '64:ff9b:1::1.1.1.1', 'fe80::1%eth0']
  for (const text of [...others, '', 'localhost', '0x7f.1', '2130706433', '1.1.1', '1.1.1.1:80', '[2606:4700::1111]'])
    assert.equal(isPublicAddress(text), false, text)
})

test('OUT-01: a host that the operator named may have a private address, but none of a metadata service, however it is written', () => {
  for (const address of ['169.254.169.254', '169.254.0.1', '0.0.0.0', '0.1.2.3'])
    for (const prefix of ['', '::ffff:', '64:ff9b::', '64:ff9b:1::'])
      for (const spelled of [address, textOf(numberOf(address), 128).split(':').slice(-2).join(':')]) {
        if (prefix === '' && spelled !== address) continue
        assert.equal(mayBePrivate(`${prefix}${spelled}`), false, `${prefix}${spelled}`)
      }
  for (const address of [
    '::',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    'fd20:ce::254',
    '',
    'idp.internal',
  ])
    assert.equal(mayBePrivate(address), false, address)
  for (const address of [
    '10.0.0.7',
    '127.0.0.1',
    '::1',
    '::ffff:10.0.0.7',
    '64:ff9b:1::a00:7',
    'fd00:ec2::7',
    '1.1.1.1',
  ])
    assert.equal(mayBePrivate(address), true, address)
})
