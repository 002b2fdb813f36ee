import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  canonicalResource,
  namesIssuer,
  slashVariant,
  parseResource,
  resourcesKey,
  sameResource,
  type Resource,
} from '../../../src/protocol/token/resource.ts'

test('RFC 8707 §2: a resource is an absolute URI without a fragment and, stricter, without user information', () => {
  for (const good of [
    'https://api.test',
    'https://api.test/',
    'https://api.test/v1?x=1',
    'urn:example:api',
    'https://api.test/@team',
    'http://localhost:3001/mcp',
  ]) {
    assert.equal(parseResource(good), good)
  }
  for (const bad of [
    '',
    'api',
    '/api',
    '//api.test',
    'https://',
    'https://api.test/#x',
    'https://api.test/ü',
    'https://a b',
    'https://user:secret@api.test',
    'https://@api.test',
    'HTTPS:user@api.test',
    'foo://user@api',
    `https://a/${'x'.repeat(2048)}`,
  ]) {
    assert.equal(parseResource(bad), undefined, bad)
  }
})

test('two identifiers name the same API if they differ only in the slash after a bare origin, or the case before the path', () => {
  const cases: readonly (readonly [left: string, right: string, expected: boolean])[] = [
    ['https://api.test', 'https://api.test/', true],
    ['https://api.test/', 'https://api.test', true],
    ['https://api.test:8443/', 'https://api.test:8443', true],
    ['https://api.test/v1', 'https://api.test/v1/', false],
    ['https://api.test', 'https://API.test', true],
    ['https://api.test/v1', 'HTTPS://Api.Test/v1', true],
    ['https://api.test', 'HTTPS://API.TEST/', true],
    ['https://api.test:8443/v1?x=Y', 'https://API.test:8443/v1?x=Y', true],
    ['http://[2001:db8::a]/v1', 'http://[2001:DB8::A]/v1', true],
    ['urn:example:api', 'URN:example:api', true],
    ['urn:example:api', 'urn:EXAMPLE:api', false],
    ['https://api.test/v1', 'https://api.test/V1', false],
    ['https://api.test?x', 'https://api.test?X', false],
    ['https://api.test', 'https://api.test:443', false],
    ['https://api.test/%7e', 'https://api.test/%7E', false],
    ['https:\\\\api.test\\a', 'https:\\\\api.test\\A', false],
    ['https://api.test', 'https://api.tes', false],
    ['https://api.test', 'http://api.test', false],
    ['https://api.test?x', 'https://api.test/?x', false],
    ['https://api.test', 'https://api.test//', false],
  ]
  for (const [left, right, expected] of cases) {
    assert.equal(sameResource(left, right), expected, `${left} and ${right}`)
    assert.equal(sameResource(right, left), expected, `${right} and ${left}`)
  }
})

test('OP-18: a resource names the issuer in every spelling of its URL, and so do all identifiers of one API', () => {
  const cases: readonly (readonly [resource: string, issuer: string, expected: boolean])[] = [
    ['https://auth.test', 'https://auth.test', true],
    ['https://auth.test/', 'https://auth.test', true],
    ['https://auth.test//', 'https://auth.test', true],
    ['HTTPS://AUTH.test', 'https://auth.test', true],
    ['https://auth.test:443/', 'https://auth.test', true],
    ['https://auth.test?', 'https://auth.test', true],
    ['https://auth.test/tenant/', 'https://auth.test/tenant', true],
    ['https://AUTH.test:443/a/../tenant', 'https://auth.test/tenant', true],
    ['https://auth.test/Tenant', 'https://auth.test/tenant', false],
    ['https://auth.test/tenant', 'https://auth.test', false],
    ['https://auth.test', 'https://auth.test/tenant', false],
    ['http://auth.test', 'https://auth.test', false],
    ['https://auth.test:8443', 'https://auth.test', false],
    ['https://auth.test/?x', 'https://auth.test', false],
    ['https://auth.test.evil.test', 'https://auth.test', false],
    ['urn:auth.test', 'https://auth.test', false],
  ]
  for (const [resource, issuer, expected] of cases) {
    assert.equal(namesIssuer(resource, issuer), expected, `${resource} and ${issuer}`)
    assert.equal(namesIssuer(canonicalResource(resource), issuer), expected, `${resource}, canonical, and ${issuer}`)
    const variant = slashVariant(resource)
    if (variant !== undefined) assert.equal(namesIssuer(variant, issuer), expected, `${variant} and ${issuer}`)
  }
})

test('the variant of a bare origin has or lacks the slash at its end, and other identifiers have no variant', () => {
  for (const origin of ['https://api.test', 'http://localhost:3001', 'x-y+z.1://host']) {
    assert.equal(slashVariant(origin), `${origin}/`)
    assert.equal(slashVariant(`${origin}/`), origin)
  }
  for (const one of [
    'urn:example:api',
    'https://api.test/v1',
    'https://api.test/v1/',
    'https://api.test?x',
    'https://',
  ])
    assert.equal(slashVariant(one), undefined, one)
})

test('the key of a set of resources does not depend on their order, and that of a long set is short', () => {
  const [one, two] = ['https://a.test', 'https://b.test'] as readonly string[] as readonly [Resource, Resource]
  assert.equal(resourcesKey([]), '')
  assert.equal(resourcesKey([two, one]), 'https://a.test https://b.test')
  const many = Array.from({ length: 40 }, (_, index) => `https://api-${index}.test/${'x'.repeat(2000)}` as Resource)
  assert.ok(resourcesKey(many).length < 100)
  assert.equal(resourcesKey(many), resourcesKey(many.toReversed()))
  assert.notEqual(resourcesKey(many), resourcesKey(many.slice(1)))
})
