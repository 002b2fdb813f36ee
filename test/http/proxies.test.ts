import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { networkOf } from '../../src/http/network.ts'
import { openProxies } from '../../src/http/proxies.ts'
import { REDIRECT_URI } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openTestServer } from '../support/server.ts'

function message(peer: string | undefined, headers: Readonly<Record<string, string>>): IncomingMessage {
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
}

const PROXIES = openProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'], () => undefined)

test('NET-05: a proxy is trusted in every spelling of its address, and no other peer is trusted', () => {
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
  assert.equal(openProxies([], () => undefined).isTrusted('127.0.0.1'), false)
})

test('NET-05: the caller is the last address that is not a trusted proxy', () => {
  const table = [
    ['198.51.100.1', '203.0.113.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, 203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, 203.0.113.1, 10.0.0.2', '203.0.113.1'],
    ['10.0.0.1', ' 203.0.113.9 ,, 203.0.113.1 , ', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.9, garbage', 'unreadable'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '', '10.0.0.1'],
  ] as const
  for (const [peer, forwarded, caller] of table)
    assert.equal(PROXIES.callerOf(message(peer, { 'x-forwarded-for': forwarded })), caller, forwarded)
  assert.equal(PROXIES.callerOf(message('10.0.0.1', {})), '10.0.0.1')
  assert.equal(PROXIES.callerOf(message(undefined, { 'x-forwarded-for': '203.0.113.1' })), '')
})

test('NET-05: the last value of a forwarded header counts, and only when the peer is a trusted proxy', () => {
  const headers = { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'a.example,b.example' }
  assert.equal(PROXIES.forwarded(message('10.0.0.1', headers), 'x-forwarded-proto'), 'http')
  assert.equal(PROXIES.forwarded(message('10.0.0.1', headers), 'x-forwarded-host'), 'b.example')
  assert.equal(PROXIES.forwarded(message('203.0.113.1', headers), 'x-forwarded-proto'), undefined)
  assert.equal(PROXIES.forwarded(message('10.0.0.1', {}), 'x-forwarded-proto'), undefined)
})

test('NET-16: the port and brackets of a forwarded address are ignored', () => {
  const table = [
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['203.0.113.9:0', '203.0.113.9'],
    ['[2001:db9::1]', '2001:db9:0:0::/64'],
    ['[2001:db9::1]:443', '2001:db9:0:0::/64'],
    ['2001:db9::1', '2001:db9:0:0::/64'],
    ['2001:db9::1%eth0', '2001:db9:0:0::/64'],
    ['[::ffff:203.0.113.9]:443', '203.0.113.9'],
    ['64:ff9b::203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, 10.0.0.2:4711', '203.0.113.9'],
    ['203.0.113.9:80, [2001:db8::7]:443', '203.0.113.9'],
  ] as const
  for (const [forwarded, network] of table)
    assert.equal(networkOf(PROXIES.callerOf(message('10.0.0.1', { 'x-forwarded-for': forwarded }))), network, forwarded)
})

test('NET-16: all forwarded addresses that cannot be parsed count as one network, which is reported once', () => {
  let reports = 0
  const proxies = openProxies(['10.0.0.0/8'], () => void (reports += 1))
  const unreadable = [
    'unknown',
    '_hidden',
    '203.0.113.9:',
    '203.0.113.9:port',
    '203.0.113.9:123456',
    '203.0.113.256:80',
    '203.0.113.9:80:80',
    '[203.0.113.9]:80',
    '[2001:db9::1',
    '2001:db9::1]:443',
    '[2001:db9::1]x',
    '[]:443',
    ':443',
    '"[2001:db9::1]:443"',
    'fe80::1%',
    'host.example:80',
  ]
  for (const forwarded of unreadable) {
    const caller = proxies.callerOf(message('10.0.0.1', { 'x-forwarded-for': forwarded }))
    assert.equal(networkOf(caller), 'unreadable', forwarded)
  }
  assert.equal(reports, 1)
  assert.equal(proxies.callerOf(message('203.0.113.1', { 'x-forwarded-for': 'unknown' })), '203.0.113.1')
})

test('NET-16: behind a proxy that writes ports a caller has one registration budget, and unreadable addresses are logged once', async (t) => {
  const server = await openTestServer(t, {
    env: { GRANTOR_TRUST_PROXY: '127.0.0.1', GRANTOR_REGISTRATION_RATE: '3' },
  })
  const spellings = [
    (index: number) => `203.0.113.9:${40_000 + index}`,
    (index: number) => `[2001:db9::${index}]:${40_000 + index}`,
    (index: number) => `client-${index}`,
  ]
  for (const spelling of spellings) {
    const answers = Array.from({ length: 10 }, async (_, index) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': spelling(index) }
      const payload = JSON.stringify({ redirect_uris: [REDIRECT_URI] })
      return (await server.inject({ method: 'POST', url: '/v2/oauth/register', headers, payload })).statusCode
    })
    const statuses = await Promise.all(answers)
    assert.equal(statuses.filter((status) => status === 201).length, 3, spelling(0))
    assert.equal(statuses.filter((status) => status === 429).length, 7, spelling(0))
  }
  assert.equal(server.log().match(/forwarded-address\.unreadable/g)?.length, 1)
})

test('a server of an https issuer listens on IPv6 and IPv4, and a caller of IPv6 is its /64 in the log and in the limits', async (t) => {
  const port = await freePort()
  const settings = { PORT: String(port), GRANTOR_ISSUER: 'https://auth.example', GRANTOR_TRUST_PROXY: '127.0.0.1, ::1' }
  const env = { ...settings, GRANTOR_LOG_NETWORKS: 'true', GRANTOR_REGISTRATION_RATE: '2' }
  const server = await openTestServer(t, { env, listen: true })
  const register = async (proxy: string, caller: string) => {
    const headers = {
      'content-type': 'application/json',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': caller,
    }
    const body = JSON.stringify({ redirect_uris: [REDIRECT_URI] })
    return (await fetch(`http://${proxy}:${port}/v2/oauth/register`, { method: 'POST', headers, body })).status
  }
  for (const proxy of ['[::1]', '127.0.0.1']) assert.equal(await register(proxy, '2001:db8::1'), 201, proxy)
  assert.equal(await register('[::1]', '2001:db8::ffff:ffff:ffff:ffff'), 429)
  assert.equal(await register('[::1]', '2001:db8:0:1::1'), 201)
  assert.match(server.log(), /"network":"2001:db8:0:0::\/64"/)
})

test('a proxy on this machine that GRANTOR_TRUST_PROXY does not name is logged once, and each of its requests is counted', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '10.0.0.0/8' }, listen: true })
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  for (const more of [headers, headers, {}]) await fetch(`${server.context.issuer}/version`, { headers: more })
  assert.equal(server.log().match(/forwarded-address\.ignored/g)?.length, 1)
  const samples = await server.sample(false)
  const ignored = samples.filter(({ name }) => name === 'grantor_forwarded_addresses_ignored_total')
  assert.deepEqual(ignored, [{ name: 'grantor_forwarded_addresses_ignored_total', labels: [], value: 2 }])
})

test('AG-10: a trusted proxy that names no caller is logged once, and each of its POSTs is counted', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.1' }, listen: true })
  const token = `${server.context.issuer}/v2/oauth/token`
  const form = 'application/x-www-form-urlencoded'
  for (const [method, headers] of [
    ['POST', {}],
    ['POST', {}],
    ['POST', { 'x-forwarded-for': '203.0.113.9' }],
    ['GET', {}],
  ] as const)
    await (method === 'GET'
      ? fetch(`${server.context.issuer}/version`)
      : fetch(token, { method, headers: { 'content-type': form, ...headers }, body: 'grant_type=refresh_token' }))
  assert.equal(server.log().match(/forwarded-address\.missing/g)?.length, 1)
  const samples = await server.sample(false)
  const missing = samples.filter(({ name }) => name === 'grantor_forwarded_addresses_missing_total')
  assert.deepEqual(missing, [{ name: 'grantor_forwarded_addresses_missing_total', labels: [], value: 2 }])
})

test('UI-12: a page of a loopback issuer under another name redirects to the issuer once, also behind a proxy without ports', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.1' } })
  const url = '/v2/oauth/sign-in?x=1'
  const home = `${server.origin}${url}`
  const table: readonly (readonly [headers: Readonly<Record<string, string>>, location: string | undefined])[] = [
    [{}, undefined],
    [{ 'x-forwarded-host': 'localhost:3000' }, undefined],
    [{ 'x-forwarded-host': 'localhost' }, undefined],
    [{ host: 'localhost' }, undefined],
    [{ host: '127.0.0.1:3000' }, home],
    [{ host: '127.0.0.1' }, home],
    [{ 'x-forwarded-host': '127.0.0.1' }, home],
    [{ 'x-forwarded-host': 'localhost:8080' }, home],
    [{ 'x-forwarded-host': 'localhost.evil.test' }, home],
  ]
  for (const [headers, location] of table) {
    const answer = await server.inject({ url, headers })
    assert.equal(answer.headers['location'], location, JSON.stringify(headers))
  }
})
