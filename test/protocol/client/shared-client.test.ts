import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import type { ClientMetadata } from '../../../src/protocol/client/members.ts'
import { canonicalMetadata } from '../../../src/protocol/client/shared-client.ts'

const ONE: ClientMetadata = {
  redirect_uris: ['https://app.example/cb', 'http://127.0.0.1/'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'read write' as Scope,
  client_name: 'One',
  contacts: ['a@b.test'],
}

test('decision 0021: registrations that differ only in the order of redirect URIs, grant types, scope or members are equal', () => {
  const turned: ClientMetadata = {
    ...(Object.fromEntries(Object.entries(ONE).toReversed()) as unknown as ClientMetadata),
    redirect_uris: ONE.redirect_uris.toReversed(),
    grant_types: ONE.grant_types.toReversed(),
    scope: 'write read' as Scope,
  }
  assert.equal(canonicalMetadata(turned), canonicalMetadata(ONE))
})

test('RFC 8252 §7.3: the port of a loopback redirect makes no difference between registrations, and anything else does', () => {
  const keyOf = (...redirectUris: readonly string[]): string =>
    canonicalMetadata({ ...ONE, redirect_uris: redirectUris })
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
    { ...ONE, redirect_uris: ['https://app.example/cb'] },
    { ...ONE, redirect_uris: ['https://app.example/cb', 'http://127.0.0.1'] },
    { ...ONE, redirect_uris: ['https://app.example/cb","http://127.0.0.1/'] },
    { ...ONE, grant_types: ['authorization_code'] as const },
    without('scope'),
    { ...ONE, scope: '' as Scope },
    { ...ONE, client_name: 'One ' },
    without('contacts'),
    { ...ONE, software_id: 'x' },
  ].map((metadata) => canonicalMetadata(metadata))
  assert.equal(new Set(texts).size, texts.length)
})

function without(name: 'scope' | 'contacts'): ClientMetadata {
  const { [name]: _, ...others } = ONE
  return others
}
