import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAXIMA } from '../../src/base/maxima.ts'
import { maximaDocument } from '../../src/cli/docs/maxima.ts'
import { IDENTITY_SCOPES } from '../../src/protocol/token/scope.ts'

const most = (name: keyof typeof MAXIMA): number => MAXIMA[name].most

/** What has to be within what. */
const FITS: readonly (readonly [what: string, parts: readonly number[], whole: number])[] = [
  [
    'a token and an assertion, with names and ids of 1 KiB, are in a body',
    [most('accessToken'), most('clientAssertion'), 1024],
    most('body'),
  ],
  ['the scopes of an API are in a token', [most('apiTexts')], most('tokenTexts')],
  [
    'the scopes of an API and of OpenID Connect are in a request',
    [most('scopesOfApi'), IDENTITY_SCOPES.length],
    most('scopesOfRequest'),
  ],
  [
    'what the server advertises is in a request',
    [most('advertisedScopes'), IDENTITY_SCOPES.length],
    most('scopesOfRequest'),
  ],
  [
    'the scopes of an API and of OpenID Connect are in a registration',
    [most('apiTexts'), IDENTITY_SCOPES.join(' ').length],
    most('registeredScope'),
  ],
  ['a registered scope is in the metadata of a client', [most('registeredScope'), 2048], most('registration')],
  ['an ID token is a hint', [most('idToken')], most('idTokenHint')],
  [
    'a hint is in an address and in a pushed request, with 1.5 KiB besides',
    [most('idToken'), 1536],
    Math.min(most('address'), most('pushedParameters')),
  ],
  ['the metadata of a client is in a body', [most('registration')], most('body')],
  ['a body of an administrator is read', [most('adminBody')], most('bodyRead')],
  ['the scopes of an API are in a form of the console', [5 * most('scopesOfApi'), 20], most('consoleParameters')],
  ['a set is in a line of a backup, with its name', [most('appliedSet'), 1024], most('backupLine')],
  ['a name of a scope is in what an API declares', [most('scopeName')], most('apiTexts')],
]

test('the maxima fit together', () => {
  for (const [what, parts, whole] of FITS) {
    const sum = parts.reduce((total, part) => total + part, 0)
    assert.ok(sum <= whole, `${what}: ${sum} of ${whole}`)
  }
})

test('docs/maxima.md is what npm run docs writes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/maxima.md'), 'utf8')
  assert.equal(page, maximaDocument(), 'Run: npm run docs')
})
