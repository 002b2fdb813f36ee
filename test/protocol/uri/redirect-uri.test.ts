import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WEB_URL } from '../../support/arbitrary-texts.ts'
import { openAppRedirects } from '../../../src/protocol/uri/app-redirect.ts'
import { describeSentUri, describeUri } from '../../../src/protocol/uri/canonical-uri.ts'
import { leadsToThisComputer } from '../../../src/protocol/uri/loopback.ts'
import { checkRedirectUri, webHost, type RedirectUriPolicy } from '../../../src/protocol/uri/redirect-uri.ts'

const POLICY: RedirectUriPolicy = {
  apps: openAppRedirects(['cursor', 'vscode']),
  own: new URL('https://auth.example'),
}
const LOCAL_POLICY: RedirectUriPolicy = { apps: openAppRedirects([]), own: new URL('http://localhost:3000') }

function assertVerdicts(kind: 'usable' | 'dormant' | 'refused', uris: readonly string[], policy = POLICY): void {
  for (const uri of uris) assert.equal(checkRedirectUri(uri, policy).kind, kind, JSON.stringify(uri))
}

test('decision 0005: https, http on loopback, and private-use schemes with a dot or in the settings are usable', () => {
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
    'https://app.localhost/cb',
    'https://my_app.example/cb',
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

test('decision 0005: any other well-formed scheme is dormant', () => {
  assertVerdicts('dormant', ['zed://cb', 'myapp:/cb', 'x-y+z://cb', 'cursorx://cb'])
})

test('REG-01: schemes that browsers execute or handle are refused in every spelling', () => {
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

test('REG-01: no setting can allow a scheme that browsers execute', () => {
  const policy = { ...POLICY, apps: openAppRedirects(['javascript', 'data', 'vbscript', 'file', 'blob']) }
  assertVerdicts('refused', ['javascript:alert(1)', 'data:x', 'vbscript:x', 'file:///x', 'blob:x'], policy)
})

test('REG-02: http is allowed for loopback only', () => {
  assertVerdicts('refused', ['http://app.example/cb', 'http://10.0.0.1/cb', 'http://[2001:db8::1]/cb', 'http://a/'])
})

test('REG-03: a fragment is refused, even an empty one', () => {
  assertVerdicts('refused', ['https://a.test/cb#x', 'https://a.test/cb#', 'http://127.0.0.1/#', 'com.example.app:/cb#'])
})

test('REG-04: a URI that two parsers could read differently is refused', () => {
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

test('REG-04: a host that ends in a dot is refused as another spelling of the same host', () => {
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

test('REG-08: a host that only resembles a loopback name is refused', () => {
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

test('REG-08: every spelling of the unspecified address and every IPv4 address in IPv6 notation is refused with any scheme', () => {
  const hosts = [
    '0.0.0.0',
    '0',
    '0x0',
    '0.1.2.3',
    '[::]',
    '[0::0]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[::7f00:1]',
  ]
  for (const scheme of ['http', 'https'])
    assertVerdicts(
      'refused',
      [...hosts, '[::ffff:0:7f00:1]', '[::2]'].map((host) => `${scheme}://${host}:8443/cb`),
    )
})

test('REG-04: a host has letters, digits, dots, hyphens and underscores, or is an IP address', () => {
  const hosts = [...";,'!$&()+=~"].flatMap((character) => [
    `a${character}sandbox.evil.example`,
    `${character}a.example`,
  ])
  assertVerdicts(
    'refused',
    hosts.map((host) => `https://${host}/cb`),
  )
})

test('REG-04: no accepted host puts a delimiter of another grammar into the CSP header', () => {
  const characters = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
  const property = fc.property(fc.string({ unit: characters, minLength: 1, maxLength: 8 }), (text) => {
    const uri = `https://a${text}b.example/cb`
    if (checkRedirectUri(uri, POLICY).kind === 'usable') assert.match(new URL(uri).host, /^[a-z0-9._-]+(:\d+)?$/)
  })
  fc.assert(property, { numRuns: 3000 })
})

test('REG-27: a redirect to the server itself is refused by every name of the local computer', () => {
  assertVerdicts('refused', ['https://auth.example/cb', 'https://auth.example', 'https://auth.example?x=1'])
  assertVerdicts('usable', ['https://auth.example:8443/cb', 'https://www.auth.example/cb'])
  const own = ['http://localhost:3000/cb', 'http://127.0.0.1:3000/cb', 'http://[::1]:3000/cb']
  assertVerdicts('refused', own, LOCAL_POLICY)
  const others = ['http://localhost:3001/cb', 'http://localhost/cb', 'https://localhost:3000/cb']
  assertVerdicts('usable', others, LOCAL_POLICY)
  const secure = { ...LOCAL_POLICY, own: new URL('https://localhost:3000') }
  const spellings = ['localhost', 'app.localhost', '127.0.0.1', '127.0.0.2', '[::1]']
  assertVerdicts(
    'refused',
    spellings.map((host) => `https://${host}:3000/cb`),
    secure,
  )
})

test('REG-28: a query that already has a parameter of the authorization response is refused', () => {
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

test('REG-09: a redirect URI may have 2048 characters, and one more is refused', () => {
  const fit = `https://a.test/${'x'.repeat(2048 - 15)}`
  assertVerdicts('usable', [fit])
  assertVerdicts('refused', [`${fit}x`])
})

test('REG-04: a usable https URI equals what the URL parser writes', () => {
  const letters = [..."'aZ09-._~%2fF\\@:;#&=[]* \t\u0000ä。"]
  const authorities = fc.string({ unit: fc.constantFrom(...letters), maxLength: 12 })
  const paths = fc.string({ unit: fc.constantFrom(...letters, '/', '?'), maxLength: 12 })
  const property = fc.property(authorities, paths, (authority, rest) => {
    const uri = `https://${authority}/${rest}`
    if (checkRedirectUri(uri, POLICY).kind !== 'usable') return
    const url = new URL(uri)
    assert.equal(url.href, uri)
    assert.equal(url.username + url.password + url.hash, '')
    assert.ok(uri.startsWith(`${url.protocol}//${url.host}/`), uri)
    assert.equal(webHost(uri), leadsToThisComputer(url.hostname) ? undefined : url.host)
  })
  fc.assert(property, { numRuns: 3000 })
})

test('the host of a redirect to another computer has its port; a redirect to this computer or to an app has none', () => {
  const hosts = {
    'https://app.example:8443/cb?x=1': 'app.example:8443',
    'https://[2001:db8::1]/cb': '[2001:db8::1]',
    'https://app.localhost:8443/cb': undefined,
    'com.example.app://cb/x': undefined,
  }
  for (const [uri, host] of Object.entries(hosts)) assert.equal(webHost(uri), host, uri)
})

test('REG-01: every usable URI has https, http on loopback, a scheme with a dot or an allowed scheme', () => {
  const schemes = fc.constantFrom('https', 'http', 'javascript', 'data', 'cursor', 'com.example', 'zed', 'HTTPS', '')
  const uri = fc.tuple(schemes, fc.constantFrom(':', '://', '%3a', ':\\', '\t:'), WEB_URL, fc.string())
  const property = fc.property(
    fc.oneof(
      uri.map((parts) => parts.join('')),
      WEB_URL,
      fc.string(),
    ),
    (text) => {
      if (checkRedirectUri(text, POLICY).kind !== 'usable') return
      assert.match(
        text,
        /^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/?]|$)|cursor:|vscode:|[a-z0-9+-]+\.)/,
      )
      assert.doesNotMatch(text, /[\s#*\\]/)
    },
  )
  fc.assert(property, { numRuns: 3000 })
})

test('NET-10: of a refused URI only scheme, host, port and path are described, in at most 200 visible characters', () => {
  const rows = [
    ['https://user:secret@app.test:8443/a?secret#secret', 'https://app.test:8443/a'],
    ['https://app.test', 'https://app.test/'],
    ['http://127.0.0.1:1/cb?code=secret', 'http://127.0.0.1:1/cb'],
    ['cursor://host/cb?secret', 'cursor://host/cb'],
    ['com.example:/cb#secret', 'com.example:/cb'],
    ['https://ä.test/ü"\\ \u202e\n', 'https://xn--4ca.test/%C3%BC%22/%20%E2%80%AE'],
    ['foo:a "b\\c', 'foo:'],
    ['foo:user:secret@host', 'foo:'],
    ['foo:', 'foo:'],
    [`${'f'.repeat(300)}:a`, 'f'.repeat(200)],
    ['view-source:https://user:secret@host', 'view-source:'],
    ['blob:https://user:secret@host/', 'blob:'],
    ['jar:https://user:secret@host!/x', 'jar:'],
    ['data:text/html,secret', 'data:'],
    ['https:user:secret@app.test', 'https://app.test/'],
    ['https:\\\\user:secret@app.test\\cb', 'https://app.test/cb'],
    ['foo:///user:secret@host/cb', 'foo:///***/cb'],
    ['foo:/https://user:secret@host/cb', 'foo:/https://***/cb'],
    ['https://app.test/https:%2F%2Fuser:secret%40host/cb', 'https://app.test/***/cb'],
    ['https://app.test/user%2540host/cb', 'https://app.test/***/cb'],
    ['https://app.test/@name/cb', 'https://app.test/@name/cb'],
    ['https://app.test/cb%3Fcode=secret', 'https://app.test/***'],
    ['https://app.test/cb%23code=secret', 'https://app.test/***'],
    ['https://app.test/a;jsessionid=secret/cb', 'https://app.test/***/cb'],
    ['https://app.test/a%3Bsecret', 'https://app.test/***'],
    ['https://app.test/cb&code=secret', 'https://app.test/***'],
    [`https://app.test/${'x'.repeat(300)}`, `https://app.test/${'x'.repeat(183)}`],
    [`https://app.test/gcs_01a2b3c4d5e6${'aB-_'.repeat(16)}/cb`, 'https://app.test/***/cb'],
    ['https://app.test/eyJhbGciOiJFUzI1NiJ9.e30.c2ln/cb', 'https://app.test/***/cb'],
    ['https://app.test/g%63s_01a2b3c4d5e6secret/cb', 'https://app.test/***/cb'],
    ['https://app.test/g%2563s_01a2b3c4d5e6secret/cb', 'https://app.test/***/cb'],
    ['https://app.test/%65yJhbGciOiJFUzI1NiJ9/cb', 'https://app.test/***/cb'],
    ['https://app.test/e\tyJhbGciOiJFUzI1NiJ9/cb', 'https://app.test/***/cb'],
    ['https://eyJhbGciOiJFUzI1NiJ9.e30.c2ln/cb', 'https://***/cb'],
    ['cursor://gcs_01a2b3c4d5e6secret/cb', 'cursor://***/cb'],
    ['https://app.test/gallery_of/cb', 'https://app.test/gallery_of/cb'],
    ['/cb', undefined],
    ['https://', undefined],
    ['', undefined],
  ] as const
  for (const [text, described] of rows) {
    assert.equal(describeUri(text), described, text)
    assert.doesNotMatch(describeUri(text) ?? '', /secret/)
    const sent = describeSentUri(text) ?? ''
    assert.equal(sent.startsWith(described ?? ''), true, sent)
    assert.equal(sent.includes('written differently'), described !== undefined && described !== text, sent)
  }
  fc.assert(
    fc.property(fc.oneof(WEB_URL, fc.string()), (text) => {
      assert.match(describeUri(text) ?? 'a:', /^[a-z][a-z0-9+.-]*:[\x21\x23-\x5b\x5d-\x7e]{0,199}$/)
      assert.doesNotMatch(describeUri(text) ?? '', /[?#]/)
    }),
  )
})
