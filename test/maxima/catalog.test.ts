import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMA } from '../../src/base/maxima.ts'
import type { ApiRecord } from '../../src/ports/records/api.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { requireApi, updateApi } from '../../src/admin/api/api.ts'
import { registrationPolicy } from '../../src/clients/registration-policy.ts'
import { findStepUps } from '../../src/requests/step-up.ts'
import { decideScope } from '../../src/requests/scope-decision.ts'
import { scopeCatalogOf } from '../../src/requests/scope-catalog.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { aClient, anApi } from '../support/records.ts'
import { openTestServer } from '../support/server.ts'
import { namesOf, scopesOf } from './longest.ts'

/** What a request costs does not depend on how many scopes are declared. `npm run bench maxima` measures it. */

const server = await openTestServer(WHOLE_FILE)
const { context } = server

test('BND-08: a request with 100 unknown scopes reads no declaration but the first time', async () => {
  let reads = 0
  const apis = Array.from({ length: MAXIMA.apis.most }, (_, index): ApiRecord => {
    const scopes = scopesOf(`a${index}:`, 3, () => 10)
    const api = anApi({ resource: `https://${index}.example` as Resource })
    return Object.defineProperty(api, 'scopes', { get: () => ((reads += 1), scopes) })
  })
  const catalog = scopeCatalogOf({ issuer: 'https://auth.example', settings: context.settings }, apis)
  const unknown = namesOf(scopesOf('unknown', 100, () => 20)) as Scope
  const policy = registrationPolicy(context, apis, aClient())
  const ask = () => {
    for (const kind of ['user', 'machine'] as const) {
      const requester = { kind, client: aClient(), installed: undefined }
      assert.equal(decideScope(catalog, requester, { scope: unknown, resources: [] }).kind, 'refused')
    }
    findStepUps(catalog.apis, { scope: unknown, resources: [] })
    assert.ok(!policy.declaresScope('unknown'))
  }
  ask()
  assert.ok(reads <= 2 * MAXIMA.apis.most, String(reads))
  reads = 0
  ask()
  assert.equal(reads, 0)
})

test('BND-08: the list of APIs is made again only after an operator has changed one', async () => {
  const resource = 'https://api.example'
  await declareApi(server, resource)
  await declareApi(server, 'https://other.example')
  knowApis(server)
  const first = await context.apis()
  knowApis(server)
  assert.equal(await context.apis(), first)
  await updateApi(context, await requireApi(context, resource), { name: 'Changed' })
  knowApis(server)
  const changed = await context.apis()
  assert.notEqual(changed, first)
  assert.deepEqual(
    changed.map((api) => [api.name, first.includes(api)]),
    [
      ['Changed', false],
      [undefined, true],
    ],
  )
})

test('RFC 8414 §2: with more scopes than a request may name, the metadata of the server lists those of no API', async () => {
  const scopesOfServer = async () =>
    (await server.inject({ url: '/.well-known/oauth-authorization-server' })).json<{ scopes_supported: string[] }>()
      .scopes_supported
  const few = await scopesOfServer()
  assert.ok(few.includes('read'))
  await declareApi(
    server,
    'https://many.example',
    {},
    scopesOf('m', 100, () => 30),
  )
  await declareApi(
    server,
    'https://more.example',
    {},
    scopesOf('n', 100, () => 30),
  )
  knowApis(server)
  assert.deepEqual(await scopesOfServer(), ['email', 'openid', 'profile'])
})
