import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameIdentity } from '../../../src/protocol/client/identity.ts'
import type { ClientMetadata } from '../../../src/protocol/client/metadata.ts'

const ONE: ClientMetadata = {
  redirectUris: ['https://app.example/cb', 'http://127.0.0.1:8080/'],
  authMethod: 'client_secret_post',
  grantTypes: ['authorization_code'],
  responseTypes: ['code'],
  scope: undefined,
  descriptive: { client_name: 'One' },
}

test('a client keeps its identity if paths, order and details change but its name and redirect hosts do not', () => {
  const redirectUris = ['http://127.0.0.1:8080/other', 'https://app.example/', 'https://app.example/cb?x=1']
  assert.ok(isSameIdentity(ONE, { ...ONE, redirectUris, authMethod: 'client_secret_basic' }))
  assert.ok(isSameIdentity(ONE, { ...ONE, descriptive: { client_name: 'One', client_uri: 'https://app.example' } }))
})

test('RFC 8252 §7.3: another port changes the identity of a client, except the port of a loopback redirect', () => {
  const [https = '', http = ''] = ONE.redirectUris
  const other = (redirectUris: readonly string[]): boolean => isSameIdentity(ONE, { ...ONE, redirectUris })
  for (const port of [':1', ':65535', '']) assert.ok(other([https, http.replace(':8080', port)]), port)
  assert.ok(!other([https, 'http://localhost:8080/']))
})

test('another name, or an added, removed or changed redirect host, changes the identity of a client', () => {
  assert.ok(!isSameIdentity(ONE, { ...ONE, descriptive: { client_name: 'one' } }))
  assert.ok(!isSameIdentity(ONE, { ...ONE, descriptive: {} }))
  for (const redirectUris of [
    ['https://app.example/cb'],
    [...ONE.redirectUris, 'https://evil.example/'],
    ['https://app.example:8443/cb', 'http://127.0.0.1:8080/'],
    ['com.app.example:/cb', 'http://127.0.0.1:8080/'],
  ])
    assert.ok(!isSameIdentity(ONE, { ...ONE, redirectUris }), String(redirectUris))
})
