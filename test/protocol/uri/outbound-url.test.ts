import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkOutboundUrl, type OutboundPolicy } from '../../../src/protocol/uri/outbound-url.ts'

const PUBLIC: OutboundPolicy = { issuer: 'https://auth.example', ports: [443, 8443], loopbackExcept: undefined }
const LOCAL: OutboundPolicy = { issuer: 'http://localhost:3000', ports: [443], loopbackExcept: [3000, 3001] }

function assertVerdicts(kind: 'usable' | 'refused', urls: readonly string[], policy = PUBLIC): void {
  for (const url of urls) assert.equal(checkOutboundUrl(url, policy).kind, kind, JSON.stringify(url))
}

test('https URLs of a DNS name on an allowed port may be requested', () => {
  assertVerdicts('usable', [
    'https://claude.ai/oauth/claude-code-client-metadata',
    'https://vscode.dev/oauth/client-metadata.json',
    'https://app.example/',
    'https://app.example/a//b?x=1&y=%20z',
    'https://app.example:8443/client.json',
    'https://xn--bcher-kva.example/client.json',
    'https://my_app.example/client.json',
    'https://app.xn--p1ai/client.json',
  ])
})

test('OUT-10: other ports are refused, and so is every address of this computer', () => {
  assertVerdicts('refused', [
    'https://app.example:22/',
    'https://app.example:444/',
    'https://app.example:0/',
    'https://localhost/',
    'https://localhost:8443/client.json',
    'http://localhost:8787/client.json',
    'http://127.0.0.1:8787/client.json',
    'https://auth.example/client.json',
    'https://auth.example:8443/client.json',
  ])
  assertVerdicts('usable', ['https://other.auth.example/client.json'])
})

test('OUT-10: with a loopback issuer, this computer may be requested except on the ports of the server', () => {
  assertVerdicts(
    'usable',
    [
      'http://localhost:8787/client.json',
      'http://127.0.0.1/client.json',
      'http://[::1]:1/client.json',
      'https://localhost:8787/client.json',
      'https://app.example/client.json',
    ],
    LOCAL,
  )
  assertVerdicts(
    'refused',
    [
      ...['localhost', '127.0.0.1', '[::1]'].flatMap((host) => [`http://${host}:3000/`, `https://${host}:3001/`]),
      'http://app.example/client.json',
      'http://127.0.0.2:8787/client.json',
      'http://app.localhost:8787/client.json',
      'http://localhost.app.example:8787/client.json',
      'http://0.0.0.0:8787/client.json',
      'http://[::ffff:127.0.0.1]:8787/client.json',
      'http://2130706433:8787/client.json',
      'http://localhost.:8787/client.json',
    ],
    LOCAL,
  )
})

test('OUT-11: other schemes, hosts that are no DNS name, and texts that parsers read differently are refused', () => {
  assertVerdicts('refused', [
    '',
    'app.example',
    '//app.example/',
    'http://app.example/',
    'file:///etc/passwd',
    'gopher://app.example/1',
    'ftp://app.example/',
    'data:application/json,{}',
    'HTTPS://app.example/',
    'https://app/',
    'https://app.example./',
    'https://.example/',
    'https://app..example/',
    'https://-app.example/',
    'https://app.example-/',
    'https://App.example/',
    'https://bücher.example/',
    'https://app.example%2f@evil.example/',
    'https://ada@app.example/',
    'https://ada:secret@app.example/',
    'https://app.example/#x',
    'https://app.example/\\evil.example',
    'https://app.example/a/../b',
    'https://app.example/a/%2e%2e/b',
    'https://app.example/a%2fb',
    'https://app.example/a b',
    'https://app.example/\ta',
    'https://app.example:443/',
    'https://app.example:08443/',
    'https://app.example',
    'https://app.example?x',
    'https:/app.example/',
    'https://192.0.2.7/',
    'https://1.1.1.1/client.json',
    'https://0x7f.1/',
    'https://127.1/',
    'https://[2001:db8::1]/',
    'https://[2606:4700::1111]/',
    'https://app.1/',
    `https://app.example/${'x'.repeat(2048)}`,
  ])
})
