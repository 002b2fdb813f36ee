import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { KNOWN_APPS } from '../../src/config/known-apps.ts'
import { openAppRedirects } from '../../src/protocol/uri/app-redirect.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { beginWindow, openTestServer } from '../support/server.ts'

const server = await openTestServer(WHOLE_FILE)

test('REG-07: each known app has a source and the day on which it was read, and no other entry allows its URI', () => {
  const today = new Date().toISOString().slice(0, 10)
  for (const { app, entry, uri, source, readOn } of KNOWN_APPS) {
    assert.match(source, /^https:\/\/[\w.-]+\/[\w./-]+$/, app)
    assert.match(readOn, /^20\d\d-[01]\d-[0-3]\d$/, app)
    assert.ok(!Number.isNaN(Date.parse(readOn)) && readOn <= today, app)
    const allowing = KNOWN_APPS.filter((one) => openAppRedirects([one.entry]).allows(uri)).map((one) => one.entry)
    assert.deepEqual(allowing, [entry], app)
  }
  assert.equal(new Set(KNOWN_APPS.map(({ app }) => app)).size, KNOWN_APPS.length)
})

for (const { app, uri } of KNOWN_APPS) {
  test(`REG-07: ${app} registers ${uri} alone, and authorizes with it`, async () => {
    beginWindow(server)
    const client = await registerClient(server, { redirect_uris: [uri], token_endpoint_auth_method: 'none' })
    const answer = await new PlainBrowser(server).get(authorizeUrl(client, { redirect_uri: uri }))
    assert.match(locationOf(answer), /\/sign-in\?/)
  })
}

test('GRANTOR_REDIRECT_SCHEMES adds to the known apps, and its entry none takes them away', () => {
  for (const [value, known] of [
    ['Acme', true],
    ['none, Acme', false],
  ] as const) {
    const { apps } = readConfig({ GRANTOR_REDIRECT_SCHEMES: value }).settings.redirects
    assert.ok(apps.allows('acme:/any'), value)
    for (const { uri } of KNOWN_APPS) assert.equal(apps.allows(uri), known, uri)
  }
})
