import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textsInLine } from '../../../src/base/localized-text.ts'
import { isSameIdentity, listedNameOf } from '../../../src/protocol/client/identity.ts'
import type { ClientMetadata } from '../../../src/protocol/client/members.ts'

const ONE: ClientMetadata = {
  redirect_uris: ['https://app.example/cb', 'http://127.0.0.1:8080/'],
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['authorization_code'],
  response_types: ['code'],
  client_name: 'One',
}

test('a client keeps its identity if paths, order and details change but its name and redirect hosts do not', () => {
  const redirectUris = ['http://127.0.0.1:8080/other', 'https://app.example/', 'https://app.example/cb?x=1']
  assert.ok(
    isSameIdentity(ONE, { ...ONE, redirect_uris: redirectUris, token_endpoint_auth_method: 'client_secret_basic' }),
  )
  assert.ok(isSameIdentity(ONE, { ...ONE, client_name: 'One', client_uri: 'https://app.example' }))
})

test('RFC 8252 §7.3: another port changes the identity of a client, except the port of a loopback redirect', () => {
  const [https = '', http = ''] = ONE.redirect_uris
  const other = (redirectUris: readonly string[]): boolean =>
    isSameIdentity(ONE, { ...ONE, redirect_uris: redirectUris })
  for (const port of [':1', ':65535', '']) assert.ok(other([https, http.replace(':8080', port)]), port)
  assert.ok(!other([https, 'http://localhost:8080/']))
})

test('another name, or an added, removed or changed redirect host, changes the identity of a client', () => {
  assert.ok(!isSameIdentity(ONE, { ...ONE, client_name: 'one' }))
  const { client_name: _, ...nameless } = ONE
  assert.ok(!isSameIdentity(ONE, nameless))
  assert.ok(!isSameIdentity(ONE, { ...ONE, 'client_name#de': 'One' }))
  assert.ok(!isSameIdentity({ ...ONE, 'client_name#de': 'Eins' }, { ...ONE, 'client_name#de': 'Zwei' }))
  for (const redirectUris of [
    ['https://app.example/cb'],
    [...ONE.redirect_uris, 'https://evil.example/'],
    ['https://app.example:8443/cb', 'http://127.0.0.1:8080/'],
    ['com.app.example:/cb', 'http://127.0.0.1:8080/'],
  ])
    assert.ok(!isSameIdentity(ONE, { ...ONE, redirect_uris: redirectUris }), String(redirectUris))
})

test('a list has each name of a client that a user may see, and each is found in it', () => {
  const rows: readonly (readonly [Parameters<typeof listedNameOf>[0], string | undefined, readonly string[]])[] = [
    [{}, undefined, []],
    [{ client_name: 'Wall (big)' }, 'Wall (big)', []],
    [{ client_name: 'Wall', 'client_name#de': 'Wall' }, 'Wall', []],
    [{ 'client_name#de': 'Wand' }, 'Wand', []],
    [{ client_name: 'A', 'client_name#en': 'B', 'client_name#de': 'B' }, 'A (en, de: B)', ['A', 'B']],
    [
      { client_name: 'A', 'client_name#en': 'B: c', 'client_name#de': 'D (e)' },
      'A (en: B: c; de: D (e))',
      ['A', 'B: c', 'D (e)'],
    ],
    [{ 'client_name#en': 'B', 'client_name#de': 'D' }, 'B (de: D)', ['B', 'D']],
  ]
  for (const [metadata, listed, names] of rows) {
    assert.equal(listedNameOf(metadata), listed)
    if (listed !== undefined) assert.deepEqual(textsInLine(listed), [listed, ...names])
  }
})
