import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isLoopback,
  isPrivateUse,
  judgeRedirectUri,
  redirectHost,
  redirectUriMatches,
  type RedirectUriPolicy,
} from '../../src/protocol/redirect-uri.ts'

const POLICY: RedirectUriPolicy = {
  schemes: new Set(['cursor', 'vscode']),
  ownOrigin: 'https://auth.example',
}
const LOCAL_POLICY: RedirectUriPolicy = { schemes: new Set(), ownOrigin: 'http://localhost:3000' }

function assertVerdicts(kind: 'usable' | 'dormant' | 'refused', uris: readonly string[], policy = POLICY): void {
  for (const uri of uris) assert.equal(judgeRedirectUri(uri, policy).kind, kind, JSON.stringify(uri))
}

test('D2: https, http on loopback and private-use schemes that are dotted or allowed are usable', () => {
  assertVerdicts('usable', [
    'https://app.example/cb',
    'https://app.example',
    'https://app.example/',
    'https://app.example?x=1',
    'https://app.example/cb?x=1&y=%20z',
    'https://app.example/cb?',
    'https://app.example:8443/cb',
    'https://app.example/a/b.c/d~e/%C3%A4',
    'https://app.example/a//b',
    'https://xn--bcher-kva.example/cb',
    'https://192.0.2.7/cb',
    'https://[2001:db8::1]/cb',
    'https://localhost/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1',
    'http://127.0.0.1:80/cb',
    'http://127.0.0.1:33418/',
    'http://[::1]/cb',
    'http://[::1]:1/cb',
    'http://localhost/cb',
    'http://localhost:65535',
    'com.example.app:/cb',
    'com.example.app:cb',
    'com.example.app://cb/x',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
  ])
})

test('D2: another well-formed scheme is dormant', () => {
  assertVerdicts('dormant', ['zed://cb', 'myapp:/cb', 'x-y+z://cb', 'cursorx://cb'])
})

test('REG-01: schemes that a browser executes or handles are refused however they are written', () => {
  assertVerdicts('refused', [
    'javascript:alert(1)',
    'javascript://app.example/%0aalert(1)',
    'JaVaScRiPt:alert(1)',
    '\tjavascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    '\u0000javascript:alert(1)',
    '%6aavascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://app.example/1',
    'file:///etc/passwd',
    'filesystem:https://app.example/x',
    'about:blank',
    'view-source:https://app.example/',
    'ws://app.example/',
    'wss://app.example/',
    'ftp://app.example/',
    'mailto:a@b.test',
    'intent://x',
    'chrome-extension://x/y',
  ])
})

test('REG-01: no setting allows a scheme that a browser executes', () => {
  const policy = { ...POLICY, schemes: new Set(['javascript', 'data', 'vbscript', 'file', 'blob']) }
  assertVerdicts('refused', ['javascript:alert(1)', 'data:x', 'vbscript:x', 'file:///x', 'blob:x'], policy)
})

test('REG-02: http is for loopback only', () => {
  assertVerdicts('refused', ['http://app.example/cb', 'http://10.0.0.1/cb', 'http://[2001:db8::1]/cb', 'http://a/'])
})

test('REG-03: a fragment is refused, an empty one too', () => {
  assertVerdicts('refused', ['https://a.test/cb#x', 'https://a.test/cb#', 'http://127.0.0.1/#', 'com.example.app:/cb#'])
})

test('REG-04: what two parsers could read differently is refused', () => {
  assertVerdicts('refused', [
    '',
    'https://good.test@evil.test/',
    'https://user:pass@evil.test/',
    'https://@evil.test/',
    'https://:@evil.test/',
    'https://good.test%25@evil.test',
    'https://good.test\\@evil.test',
    'https:\\\\evil.test',
    'https:/evil.test',
    'https:evil.test',
    'https:///evil.test/',
    'https://',
    '//evil.test/cb',
    '/cb',
    'cb',
    ' https://a.test/',
    'https://a.test/ ',
    'https://a.test/a b',
    'https://a.test/\t',
    'https://a.test/\r\n',
    'https://a.test/\u0000',
    'https://a.test/\u007f',
    'https://bücher.example/cb',
    'https://a.test/ä',
    'https://ａ.test/cb',
    'https://a\u3002test/cb',
    'HTTPS://a.test/cb',
    'https://A.test/cb',
    'https://%61.test/cb',
    'https://a.test:443/cb',
    'https://a.test:0443/cb',
    'https://a.test:/cb',
    'https://a.test:99999/cb',
    'http://127.0.0.1:0001/cb',
    'http://127.0.0.1:00080/cb',
    'http://localhost:/cb',
    "https://a.test/cb?x='",
    'https://a.test/%',
    'https://a.test/%zz',
    'https://a.test/"',
    'https://a.test/<x>',
    'https://a.test/a|b',
    'com.example.app://user@host/cb',
    'Com.Example.App:/cb',
    '1a.b:/cb',
  ])
})

test('REG-04: a host that ends in a dot is another spelling of the same host and refused', () => {
  assertVerdicts('refused', ['https://app.example./cb', 'https://auth.example./cb', 'http://localhost./cb'])
})

test('REG-05: a wildcard is refused anywhere', () => {
  assertVerdicts('refused', [
    'https://*.a.test/cb',
    'https://a.test/*',
    'https://a.test/?x=*',
    'com.example.app:/*',
    '*',
  ])
})

test('REG-06: dot segments, encoded separators and path parameters are refused', () => {
  const paths = [
    '..',
    '.',
    'a/../b',
    'a/./b',
    'a/..',
    '%2e%2e/b',
    '.%2E/b',
    '%2e/b',
    'a%2fb',
    'a%5Cb',
    'a%252fb',
    'a%252e%252e/b',
    'a;x=1',
    '..;/b',
    'a%3bx',
    'a%00b',
    'a%0db',
    'a%0Ab',
    'a%09b',
  ]
  for (const base of ['https://a.test/', 'http://127.0.0.1/', 'com.example.app:/', 'com.example.app://host/'])
    assertVerdicts(
      'refused',
      paths.map((path) => base + path),
    )
  assertVerdicts('refused', ['https://a.test//b', 'http://127.0.0.1//b', 'com.example.app://host//b'])
})

test('REG-08: a host that only looks like loopback is refused', () => {
  const hosts = [
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    '127.0.0.1@evil.test',
    '0.0.0.0',
    '[::]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.2',
    '127.0.0.1.',
    'LOCALHOST',
    'sub.localhost',
    'localhost%2eevil.test',
  ]
  assertVerdicts(
    'refused',
    hosts.map((host) => `http://${host}/cb`),
  )
})

test('REG-27: a redirect to the server itself is refused, by each name of this computer', () => {
  assertVerdicts('refused', ['https://auth.example/cb', 'https://auth.example', 'https://auth.example?x=1'])
  assertVerdicts('usable', ['https://auth.example:8443/cb', 'https://www.auth.example/cb'])
  const own = ['http://localhost:3000/cb', 'http://127.0.0.1:3000/cb', 'http://[::1]:3000/cb']
  assertVerdicts('refused', own, LOCAL_POLICY)
  const others = ['http://localhost:3001/cb', 'http://localhost/cb', 'https://localhost:3000/cb']
  assertVerdicts('usable', others, LOCAL_POLICY)
})

test('REG-28: a query that already has a parameter of the answer is refused', () => {
  const queries = [
    'code=1',
    'state=',
    'iss=x',
    'error',
    'x=1&error_description=y',
    'error_uri=z',
    'co%64e=1',
    'response=',
  ]
  for (const base of ['https://a.test/cb?', 'https://a.test?', 'http://localhost/?', 'com.example.app:/cb?'])
    assertVerdicts(
      'refused',
      queries.map((query) => base + query),
    )
  assertVerdicts('usable', ['https://a.test/cb?codes=1&my_state=2', 'https://a.test/code?x=state'])
})

test('REG-09: 2048 characters are taken, one more is refused', () => {
  const fit = `https://a.test/${'x'.repeat(2048 - 15)}`
  assertVerdicts('usable', [fit])
  assertVerdicts('refused', [`${fit}x`])
})

test('REG-04: what is usable over https is what the URL parser writes back', () => {
  const letters = [..."'aZ09-._~%2fF\\@:;#&=[]* \t\u0000ä。"]
  const authorities = fc.string({ unit: fc.constantFrom(...letters), maxLength: 12 })
  const paths = fc.string({ unit: fc.constantFrom(...letters, '/', '?'), maxLength: 12 })
  const property = fc.property(authorities, paths, (authority, rest) => {
    const uri = `https://${authority}/${rest}`
    if (judgeRedirectUri(uri, POLICY).kind !== 'usable') return
    const url = new URL(uri)
    assert.equal(url.href, uri)
    assert.equal(url.username + url.password + url.hash, '')
    assert.ok(uri.startsWith(`${url.protocol}//${url.host}/`), uri)
  })
  fc.assert(property, { numRuns: 3000 })
})

test('REG-01: whatever the text, a usable URI is https, loopback http, dotted or allowed', () => {
  const schemes = fc.constantFrom('https', 'http', 'javascript', 'data', 'cursor', 'com.example', 'zed', 'HTTPS', '')
  const uri = fc.tuple(schemes, fc.constantFrom(':', '://', '%3a', ':\\', '\t:'), fc.webUrl(), fc.string())
  const property = fc.property(
    fc.oneof(
      uri.map((parts) => parts.join('')),
      fc.webUrl(),
      fc.string(),
    ),
    (text) => {
      if (judgeRedirectUri(text, POLICY).kind !== 'usable') return
      assert.match(
        text,
        /^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/?]|$)|cursor:|vscode:|[a-z0-9+-]+\.)/,
      )
      assert.doesNotMatch(text, /[\s#*\\]/)
    },
  )
  fc.assert(property, { numRuns: 3000 })
})

test('RFC 8252 §7.3: a loopback redirect matches with any port, and nothing else differs', () => {
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

test('RFC 8252 §8.6: loopback and private-use redirects are told apart, and named by host or scheme', () => {
  const table = [
    ['http://127.0.0.1:5/cb', true, false, '127.0.0.1:5'],
    ['http://localhost/cb', true, false, 'localhost'],
    ['http://[::1]:5', true, false, '[::1]:5'],
    ['https://localhost/cb', false, false, 'localhost'],
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
