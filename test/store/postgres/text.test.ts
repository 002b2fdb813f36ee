import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { ENDPOINTS } from '../../../src/endpoints/index.ts'
import {
  authorizeUrl,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  REDIRECT_URI,
  registerClient,
  requestToken,
  signInAndAllow,
  VERIFIER,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { openNode } from '../../support/store/postgres-node.ts'

/** PostgreSQL has no text with a NUL, and UTF-8 has no half of a surrogate pair. */
const TEXTS: readonly string[] = [
  '\0',
  'ada\0@acme.test',
  'ada@acme.test\0',
  '\ud800',
  'https://api.example/\udfff',
  '\ufffe😀',
]
/** Bytes that are no UTF-8: in a form they are refused before its parameters have names, and in an address they become U+FFFD. */
const RAW: readonly string[] = ['%ED%A0%80', '%C0%80', '%FF']

const METADATA = [
  'client_name',
  'scope',
  'client_uri',
  'logo_uri',
  'software_id',
  'software_version',
  'unheard_of',
] as const
const PARAMETERS = [
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'redirect_uri',
  'scope',
  'resource',
  'org_id',
  'user_id',
  'token',
  'token_type_hint',
  'state',
  'login_hint',
  'prompt',
  'ui_locales',
  'email',
  'password',
  'authorization',
  'csrf',
] as const

const STORES = {
  sqlite: (t: TestContext) => openTestServer(t),
  postgres: async (t: TestContext) => openNode(t, await openMigratedDatabase(t)),
} as const

describe('texts that a store cannot hold', { concurrency: true }, () => {
  for (const [name, open] of Object.entries(STORES)) {
    test(`${name}: as metadata of a client they are stored as they are shown, or rejected`, async (t) => {
      const server = await open(t)
      for (const text of TEXTS) {
        for (const field of METADATA) {
          const body = { redirect_uris: [REDIRECT_URI], [field]: text }
          const answer = await server.inject({
            method: 'POST',
            url: '/v2/oauth/register',
            headers: { 'content-type': 'application/json' },
            // Escaped, because half of a pair cannot be sent otherwise.
            payload: JSON.stringify(body),
          })
          assert.notEqual(answer.statusCode, 500, `${field} ${JSON.stringify(text)}: ${answer.body}`)
          if (answer.statusCode !== 201) continue
          const { client_id: id, [field]: shown } = answer.json<Record<string, string>>()
          const page = await new PlainBrowser(server).get(authorizeUrl({ client_id: id ?? '' }))
          assert.notEqual(page.statusCode, 500, `${field} ${JSON.stringify(text)}: ${String(shown)}`)
        }
      }
    })

    test(`${name}: as a parameter of any endpoint they cause no server error`, async (t) => {
      const server = await open(t)
      const client = await registerClient(server)
      // SQLite holds them all, and what comes before the store is the same.
      const texts = name === 'sqlite' ? ['a\0b'] : [...TEXTS.filter((one) => one.isWellFormed()), '\ufffd']
      for (const [at, parameter] of PARAMETERS.entries()) {
        const textOf = (index: number) => encodeURIComponent(texts[(at + index) % texts.length] ?? '')
        await askEverywhere(server, (index) => `${parameter}=${textOf(index)}`)
      }
      for (const text of RAW) await askEverywhere(server, () => `client_id=${text}&state=${text}`)
      for (const grant of ['authorization_code', 'refresh_token', 'client_credentials']) {
        for (const parameter of PARAMETERS.filter((one) => !one.startsWith('client_'))) {
          const form = {
            grant_type: grant,
            code: 'x',
            code_verifier: VERIFIER,
            refresh_token: 'x',
            [parameter]: 'a\0b',
          }
          const { statusCode } = await requestToken(server, client, form)
          assert.notEqual(statusCode, 500, `${grant} ${parameter}`)
        }
      }
    })

    test(`${name}: a state, a login hint and an address with them pass through sign-in like any other`, async (t) => {
      const server = await open(t)
      await createAda(server)
      const client = await registerClient(server)
      const browser = new PlainBrowser(server)
      const url = authorizeUrl(client, { state: 'a\0b', login_hint: 'ada\0@acme.test' })
      const start = await browser.get(url)
      assert.notEqual(start.statusCode, 500, start.body)
      const form = await browser.get(locationOf(await browser.get(authorizeUrl(client, { login_hint: 'a\0b' }))))
      for (const email of ['ada@acme.test\0', '\0', 'a\0@b']) {
        const answer = await browser.submit(form, { email, password: `${PASSWORD}\0` })
        assert.ok([400, 401].includes(answer.statusCode), answer.body)
      }
      const answer = await signInAndAllow(browser, authorizeUrl(client, { state: 'x', login_hint: 'a\0b' }))
      assert.equal((await redeem(server, client, answer.searchParams.get('code') ?? '')).statusCode, 200)
    })
  }
})

/**
 * Sends a request to every endpoint, by its method, with one parameter that is already encoded. It may differ by the endpoint: any two of a text, a
 * parameter and an endpoint meet.
 */
async function askEverywhere(server: TestServer, parameterOf: (index: number) => string): Promise<void> {
  for (const [index, { method, path, accepts }] of ENDPOINTS.entries()) {
    const parameter = parameterOf(index)
    const answer =
      method === 'GET'
        ? await server.inject({ url: `${path}?${parameter}` })
        : await server.inject({ method, url: path, headers: { 'content-type': accepts ?? '' }, payload: parameter })
    assert.notEqual(answer.statusCode, 500, `${method} ${path} ${parameter}: ${answer.body.slice(0, 200)}`)
  }
  const form = { grant_type: 'client_credentials' }
  const parameter = parameterOf(0)
  const secret = Buffer.from(`${parameter.slice(parameter.indexOf('=') + 1)}:x`).toString('base64')
  const basic = await postForm(server, '/v2/oauth/token', form, { authorization: `Basic ${secret}` })
  assert.notEqual(basic.statusCode, 500, `Basic ${parameter}: ${basic.body}`)
}
