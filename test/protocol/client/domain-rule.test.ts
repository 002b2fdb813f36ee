import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_DOMAINS, openDomainRules, parseDomainPattern } from '../../../src/protocol/client/domain-rule.ts'

const ACCEPTED = [
  ['app.example', 'app.example'],
  ['*.app.example', '*.app.example'],
  ['APP.Example', 'app.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['203.0.113.9', '203.0.113.9'],
  ['[2001:DB8::1]', '[2001:db8::1]'],
  ['https://app.example/client.json?v=1', 'https://app.example/client.json?v=1'],
] as const

for (const [text, pattern] of ACCEPTED) {
  test(`a rule can have the pattern ${text}`, () => {
    assert.deepEqual(parseDomainPattern(text, 'trusted'), { kind: 'pattern', pattern })
  })
}

const REFUSED = [
  ['', /is neither/],
  ['*', /is neither/],
  ['*.*.example', /is neither/],
  ['a.*.example', /is neither/],
  ['app.example.', /is neither/],
  ['app..example', /is neither/],
  ['localhost', /is neither/],
  ['com', /is neither/],
  ['app.example:8443', /is neither/],
  ['app.example/path', /is neither/],
  ['ada@app.example', /is neither/],
  ['bücher.example', /is neither/],
  ['http://app.example/client.json', /is neither/],
  ['999.0.0.1', /is neither/],
  ['*.203.0.113.9', /an address/],
  ['*.1', /an address/],
  ['https://app.example', /is not the URL/],
  ['https://app.example/', /is not the URL/],
  ['https://app.example/a#b', /is not the URL/],
  ['https://app.example/a/../b', /is not the URL/],
  ['https://APP.example/a', /is not the URL/],
  ['https://ada@app.example/a', /is not the URL/],
  [`https://app.example/${'a'.repeat(500)}`, /is not the URL/],
] as const

for (const [text, reason] of REFUSED) {
  test(`a rule cannot have the pattern ${text.slice(0, 60) || 'of no character'}`, () => {
    const read = parseDomainPattern(text, 'blocked')
    assert.ok(read.kind === 'refused')
    assert.match(read.reason, reason)
  })
}

for (const suffix of ['*.com', 'co.uk', '*.co.uk', 'github.io', '*.workers.dev']) {
  test(`${suffix} can be blocked, and not trusted: anyone can have a host below it`, () => {
    const read = parseDomainPattern(suffix, 'trusted')
    assert.ok(read.kind === 'refused' && read.reason.startsWith('is a public suffix'))
    assert.deepEqual(parseDomainPattern(suffix, 'blocked'), { kind: 'pattern', pattern: suffix })
  })
}

test('the suggested domains can be trusted', () => {
  for (const text of KNOWN_DOMAINS)
    assert.deepEqual(parseDomainPattern(text, 'trusted'), { kind: 'pattern', pattern: text })
})

const rules = openDomainRules([
  { pattern: 'app.example', verdict: 'trusted' },
  { pattern: '*.org.example', verdict: 'trusted' },
  { pattern: 'bad.org.example', verdict: 'blocked' },
  { pattern: '*.bad.example', verdict: 'blocked' },
  { pattern: 'good.bad.example', verdict: 'trusted' },
  { pattern: 'https://code.example/ada.json', verdict: 'trusted' },
  { pattern: 'https://app.example/bad.json', verdict: 'blocked' },
])

const HOSTS = [
  ['app.example', 'trusted'],
  ['xapp.example', undefined],
  ['www.app.example', undefined],
  ['org.example', undefined],
  ['a.org.example', 'trusted'],
  ['a.b.org.example', 'trusted'],
  ['aorg.example', undefined],
  ['bad.org.example', 'blocked'],
  ['a.bad.org.example', 'trusted'],
  ['bad.example', undefined],
  ['good.bad.example', 'blocked'],
  ['code.example', undefined],
  ['example', undefined],
  ['[::1]', undefined],
] as const

for (const [host, verdict] of HOSTS) {
  test(`the host ${host} is ${verdict ?? 'neither trusted nor blocked'}: a wildcard matches hosts below it, and blocked wins`, () => {
    assert.equal(rules.ofHost(host), verdict)
  })
}

const DOCUMENTS = [
  ['https://code.example/ada.json', 'trusted'],
  ['https://code.example/ada.json?', undefined],
  ['https://code.example/eve.json', undefined],
  ['https://app.example/client.json', 'trusted'],
  ['https://app.example:8443/client.json', 'trusted'],
  ['https://app.example/bad.json', 'blocked'],
  ['https://a.bad.example/client.json', 'blocked'],
] as const

for (const [url, verdict] of DOCUMENTS) {
  test(`the document ${url} is ${verdict ?? 'neither trusted nor blocked'}, by its URL or its host`, () => {
    assert.equal(rules.ofDocument(url), verdict)
  })
}
