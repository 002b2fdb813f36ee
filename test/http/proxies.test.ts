import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { openProxies } from '../../src/http/proxies.ts'

function message(peer: string | undefined, headers: Readonly<Record<string, string>>): IncomingMessage {
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
}

const PROXIES = openProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])

test('NET-05: a proxy is trusted in every spelling of its address, and nothing else is', () => {
  for (const address of [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '::FFFF:10.1.2.3',
    '192.0.2.7',
    '2001:db8::1',
    '2001:DB8:0:0::1',
  ])
    assert.equal(PROXIES.isTrusted(address), true, address)
  for (const address of [
    '',
    'unknown',
    '10.0.0',
    '10.1.2.3:80',
    '11.0.0.1',
    '192.0.2.8',
    '2001:db9::1',
    'localhost',
    '[::1]',
  ])
    assert.equal(PROXIES.isTrusted(address), false, address)
  assert.equal(openProxies([]).isTrusted('127.0.0.1'), false)
})

test('NET-05: the caller is the last address that no proxy vouches for', () => {
  const table = [
    ['198.51.100.1', '203.0.113.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, 203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, 203.0.113.1, 10.0.0.2', '203.0.113.1'],
    ['10.0.0.1', ' 203.0.113.9 ,, 203.0.113.1 , ', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, garbage', 'garbage'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '', '10.0.0.1'],
  ] as const
  for (const [peer, forwarded, caller] of table)
    assert.equal(PROXIES.callerOf(message(peer, { 'x-forwarded-for': forwarded })), caller, forwarded)
  assert.equal(PROXIES.callerOf(message('10.0.0.1', {})), '10.0.0.1')
  assert.equal(PROXIES.callerOf(message(undefined, { 'x-forwarded-for': '203.0.113.1' })), '')
})

test('NET-05: of forwarded headers the nearest proxy wrote the end, and only a proxy is heard', () => {
  const headers = { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'a.example,b.example' }
  assert.equal(PROXIES.forwarded(message('10.0.0.1', headers), 'x-forwarded-proto'), 'http')
  assert.equal(PROXIES.forwarded(message('10.0.0.1', headers), 'x-forwarded-host'), 'b.example')
  assert.equal(PROXIES.forwarded(message('203.0.113.1', headers), 'x-forwarded-proto'), undefined)
  assert.equal(PROXIES.forwarded(message('10.0.0.1', {}), 'x-forwarded-proto'), undefined)
})
