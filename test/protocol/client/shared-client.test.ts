import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientMetadata } from '../../../src/protocol/client/metadata.ts'
import { canonicalMetadata } from '../../../src/protocol/client/shared-client.ts'

const ONE: ClientMetadata = {
  redirectUris: ['https://app.example/cb', 'http://127.0.0.1/'],
  authMethod: 'none',
  grantTypes: ['authorization_code', 'refresh_token'],
  responseTypes: ['code'],
  scope: 'read write' as ClientMetadata['scope'],
  descriptive: { client_name: 'One', contacts: ['a@b.test'] },
}

test('decision 0021: registrations that differ only in the order of redirect URIs, grant types, scope or members are equal', () => {
  const { client_name, contacts } = ONE.descriptive
  const turned: ClientMetadata = {
    ...ONE,
    redirectUris: ONE.redirectUris.toReversed(),
    grantTypes: ONE.grantTypes.toReversed(),
    scope: 'write read' as ClientMetadata['scope'],
    descriptive: {
      ...(contacts === undefined ? {} : { contacts }),
      ...(client_name === undefined ? {} : { client_name }),
    },
  }
  assert.equal(canonicalMetadata(turned), canonicalMetadata(ONE))
})

test('RFC 8252 §7.3: the port of a loopback redirect makes no difference between registrations, and anything else does', () => {
  const keyOf = (...redirectUris: readonly string[]): string => canonicalMetadata({ ...ONE, redirectUris })
  const one = keyOf('http://127.0.0.1/cb')
  for (const port of [':1', ':51004', ':80']) assert.equal(keyOf(`http://127.0.0.1${port}/cb`), one)
  assert.equal(keyOf('http://127.0.0.1/cb', 'http://127.0.0.1:5/cb'), one)
  const others = [
    'http://localhost/cb',
    'http://[::1]/cb',
    'http://127.0.0.1/cb2',
    'http://127.0.0.1/cb?x',
    'https://127.0.0.1/cb',
  ]
  assert.equal(new Set([one, ...others.map((uri) => keyOf(uri))]).size, 6)
  assert.notEqual(keyOf('https://localhost:1/cb'), keyOf('https://localhost:2/cb'))
})

test('decision 0021: registrations with any other difference are not equal', () => {
  const texts = [
    ONE,
    { ...ONE, redirectUris: ['https://app.example/cb'] },
    { ...ONE, redirectUris: ['https://app.example/cb', 'http://127.0.0.1'] },
    { ...ONE, redirectUris: ['https://app.example/cb","http://127.0.0.1/'] },
    { ...ONE, grantTypes: ['authorization_code'] as const },
    { ...ONE, scope: undefined },
    { ...ONE, scope: '' as ClientMetadata['scope'] },
    { ...ONE, descriptive: { client_name: 'One ' } },
    { ...ONE, descriptive: { client_name: 'One', contacts: ['a@b.test'], software_id: 'x' } },
  ].map((metadata) => canonicalMetadata(metadata))
  assert.equal(new Set(texts).size, texts.length)
})
