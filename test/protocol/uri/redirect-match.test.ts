import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isLoopback,
  isPrivateUse,
  redirectHost,
  redirectUriMatches,
  withoutLoopbackPort,
} from '../../../src/protocol/uri/redirect-uri.ts'

test('RFC 8252 §7.3: a loopback redirect matches with any port, and only the port may differ', () => {
  for (const registered of ['http://127.0.0.1/cb', 'http://127.0.0.1:8080/cb'])
    for (const presented of ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb', 'http://127.0.0.1:51004/cb'])
      assert.ok(redirectUriMatches(registered, presented), presented)
  assert.ok(redirectUriMatches('http://localhost/cb', 'http://localhost:5/cb'))
  assert.ok(redirectUriMatches('http://[::1]:1?a=1', 'http://[::1]:2?a=1'))
  const registered = 'http://127.0.0.1/cb'
  for (const presented of [
    'http://localhost/cb',
    'http://127.0.0.2/cb',
    'https://127.0.0.1/cb',
    'http://127.0.0.1/cb2',
    'http://127.0.0.1/cb?x=1',
    'http://127.0.0.1/',
    'http://127.0.0.1',
    'http://127.0.0.1:5/cb#x',
    'http://127.0.0.1:@evil.test/cb',
    'http://127.0.0.1:80.evil.test/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:5/cb\n',
    'HTTP://127.0.0.1:5/cb',
  ])
    assert.ok(!redirectUriMatches(registered, presented), presented)
})

test('RFC 9700 §4.1.3: any other redirect matches byte for byte', () => {
  const registered = 'https://app.example/cb?a=1'
  assert.ok(redirectUriMatches(registered, registered))
  const edit = fc.tuple(fc.nat(registered.length), fc.nat(2), fc.constantFrom(...'/.:@%\\ \tA1?&#'))
  const property = fc.property(edit, ([at, removed, inserted]) => {
    const mutant = registered.slice(0, at) + inserted + registered.slice(at + removed)
    assert.equal(redirectUriMatches(registered, mutant), mutant === registered, mutant)
  })
  fc.assert(property, { numRuns: 2000 })
  assert.ok(!redirectUriMatches('https://127.0.0.1/cb', 'https://127.0.0.1:5/cb'))
})

test('RFC 8252 §8.6: loopback and private-use redirects are recognized, and shown by their host or scheme', () => {
  const table = [
    ['http://127.0.0.1:5/cb', true, false, '127.0.0.1:5'],
    ['http://localhost/cb', true, false, 'localhost'],
    ['http://[::1]:5', true, false, '[::1]:5'],
    ['https://localhost/cb', true, false, 'localhost'],
    ['https://localhost:8443/cb', true, false, 'localhost:8443'],
    ['https://127.0.0.1/cb', true, false, '127.0.0.1'],
    ['https://127.1.2.3/cb', true, false, '127.1.2.3'],
    ['https://[::1]:8443/cb', true, false, '[::1]:8443'],
    ['https://app.localhost/cb', true, false, 'app.localhost'],
    ['https://localhost.example/cb', false, false, 'localhost.example'],
    ['https://127.0.0.1.example/cb', false, false, '127.0.0.1.example'],
    ['com.example.app://localhost/cb', false, true, 'com.example.app:'],
    ['https://app.example:8443/cb', false, false, 'app.example:8443'],
    ['com.example.app:/cb', false, true, 'com.example.app:'],
    ['cursor://x/y', false, true, 'cursor:'],
  ] as const
  for (const [uri, loopback, privateUse, host] of table) {
    assert.equal(isLoopback(uri), loopback, uri)
    assert.equal(isPrivateUse(uri), privateUse, uri)
    assert.equal(redirectHost(uri), host)
  }
})

test('RFC 8252 §7.3: only the port of a loopback redirect over http is removed', () => {
  const table = [
    ['http://127.0.0.1:5/cb?x=1', 'http://127.0.0.1/cb?x=1'],
    ['http://[::1]:5', 'http://[::1]'],
    ['http://localhost/cb', 'http://localhost/cb'],
    ['https://localhost:8443/cb', 'https://localhost:8443/cb'],
    ['https://app.example:8443/cb', 'https://app.example:8443/cb'],
    ['cursor://x:5/y', 'cursor://x:5/y'],
  ] as const
  for (const [uri, expected] of table) {
    assert.equal(withoutLoopbackPort(uri), expected)
    if (uri.startsWith('http:')) assert.ok(redirectUriMatches(uri, expected), uri)
  }
})
