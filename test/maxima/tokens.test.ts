import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMA } from '../../src/base/maxima.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { scopeTokens, type Scope } from '../../src/protocol/token/scope.ts'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../../tools/client-assertion.ts'
import {
  authorizeUrl,
  obtainTokens,
  postForm,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  signInAndAllow,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { assertReturnPage, WHOLE_FILE } from '../support/authorize-answers.ts'
import { assertError } from '../support/error-answer.ts'
import { credentialsOf } from '../support/hosts/http-agent.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'
import { tokensOf } from '../support/token-answers.ts'
import { introspect, revoke } from '../support/token-questions.ts'
import { longestApi, namesOf, scopesOf } from './longest.ts'

/** What the server issues at the maxima of src/base/maxima.ts, it reads. */

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_SIGNING_ALGORITHM: 'RS256' } })
await createAda(server)
const [long, other] = [longestApi('long.example'), longestApi('other.example')]
const api = await declareApi(server, long.resource, {}, long.scopes)
const target = { resource: long.resource, scope: namesOf(long.scopes) as Scope }
const otherApi = await declareApi(server, other.resource, {}, other.scopes, [
  { resource: long.resource as Resource, scope: namesOf(other.scopes) as Scope },
])
await declareApi(
  server,
  'https://opaque.example',
  { format: 'opaque' },
  scopesOf('q', 90, () => 40),
)
const SHORT = ['https://short.example', 'https://brief.example'] as const
const SHORT_SCOPES = [scopesOf('s', 100, () => 8), scopesOf('t', 100, () => 8)]
for (const [index, resource] of SHORT.entries()) await declareApi(server, resource, {}, SHORT_SCOPES[index])
const SHORT_SCOPE = namesOf(SHORT_SCOPES.flat())
knowApis(server)

async function scopesSupported(url: string): Promise<readonly string[]> {
  return (await server.inject({ url })).json<{ scopes_supported: readonly string[] }>().scopes_supported
}

const ofResource = (resource: string): string => `/v2/oauth/protected-resource?resource=${encodeURIComponent(resource)}`

test('RFC 9728 §2: a client registers and requests all scopes that the longest API and the server advertise', async () => {
  const scope = [
    ...(await scopesSupported(ofResource(long.resource))),
    ...(await scopesSupported('/.well-known/oauth-authorization-server')),
  ].join(' ')
  const client = await registerClient(server, { scope })
  const { scope: registered } = client as unknown as { readonly scope: string }
  assert.deepEqual(new Set(registered.split(' ')), new Set(scope.split(' ')))
  const tokens = await obtainTokens(server, client, { scope, resource: long.resource })
  assert.deepEqual(
    long.scopes.filter(({ name }) => !(tokens.scope ?? '').split(' ').includes(name)),
    [],
  )
})

test('RFC 6749 §6: a refresh that repeats the scopes of its answer gets them, also those of several APIs', async () => {
  const client = await registerClient(server)
  const url = authorizeUrl(client, { scope: SHORT_SCOPE }) + resourcesOf(SHORT)
  const answer = await signInAndAllow(new PlainBrowser(server), url)
  const first = tokensOf(await redeem(server, client, answer.searchParams.get('code') ?? ''))
  assert.equal(scopeTokens(first.scope as Scope).length, 200)
  const again = tokensOf(await refresh(server, client, first.refresh_token ?? '', { scope: first.scope ?? '' }))
  assert.equal(again.scope, first.scope)
})

test('the longest token is introspected, revoked, exchanged, and read by the commands', async () => {
  const client = await registerClient(server)
  const { access_token: token } = await obtainTokens(server, client, target)
  assert.ok(token.length > 5500 && token.length <= MAXIMA.accessToken.most, String(token.length))
  const { active, scope } = (await introspect(server, api, token)).json<{ active: boolean; scope: string }>()
  assert.deepEqual([active, scope], [true, target.scope])
  const inspected = await perform<{ active: boolean; scope: string }>(server.context, 'token.inspect', { token })
  assert.deepEqual([inspected.active, inspected.scope], [true, target.scope])
  const exchanged = tokensOf(
    await postForm(server, '/v2/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: api.client_id,
      client_secret: api.client_secret ?? '',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: other.resource,
      scope: namesOf(other.scopes),
    }),
  )
  assert.ok(exchanged.access_token.length <= MAXIMA.accessToken.most)
  assert.equal((await introspect(server, otherApi, exchanged.access_token)).json<{ active: boolean }>().active, true)
  assert.equal((await revoke(server, client, token)).statusCode, 200)
  assert.equal((await introspect(server, api, token)).json<{ active: boolean }>().active, false)
})

test('RFC 7009 §2.1: a client revokes the longest token with the longest assertion', async () => {
  const key = makeClientKey('RS256', { kid: 'a' })
  const client = await registerClient(server, {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.jwk] },
    grant_types: ['client_credentials'],
  })
  const assertion = (): string => {
    const claims = assertionClaims(client.client_id, server.origin, server.clock.now())
    const room = MAXIMA.clientAssertion.most - signJws(key, { alg: 'RS256', kid: 'a' }, { ...claims, pad: '' }).length
    const longest = signJws(key, { alg: 'RS256', kid: 'a' }, { ...claims, pad: 'x'.repeat(Math.floor((room * 3) / 4)) })
    assert.ok(MAXIMA.clientAssertion.most - longest.length < 4)
    return longest
  }
  const send = (path: string, form: Readonly<Record<string, string>>) =>
    postForm(server, path, { client_id: client.client_id, ...assertionForm(assertion()), ...form })
  const { access_token: token } = tokensOf(
    await send('/v2/oauth/token', { grant_type: 'client_credentials', ...target }),
  )
  const introspected = await send('/v2/oauth/introspect', { token, token_type_hint: 'access_token' })
  assert.equal(introspected.json<{ active: boolean }>().active, true, introspected.body)
  assert.equal((await send('/v2/oauth/revoke', { token, token_type_hint: 'access_token' })).statusCode, 200)
  assert.deepEqual((await introspect(server, api, token)).json(), { active: false })
})

test('a token for two APIs that would be too long is refused before the user is asked, with what to request instead', async () => {
  const client = await registerClient(server)
  const both = [long, other]
  const resources = both.map(({ resource }) => resource)
  const scope = both.flatMap(({ scopes }) => scopes.slice(0, 60).map(({ name }) => name)).join(' ')
  const request = new URL(authorizeUrl(client, { scope }) + resourcesOf(resources), server.origin).searchParams
  const machine = new URLSearchParams({ grant_type: 'client_credentials', scope })
  for (const resource of resources) machine.append('resource', resource)
  for (const [path, form] of [
    ['/v2/oauth/par', request],
    ['/v2/oauth/token', machine],
  ] as const) {
    for (const [name, value] of Object.entries(credentialsOf(client))) form.set(name, value)
    const answer = await postForm(server, path, form)
    assert.match(
      assertError(answer, 400, 'invalid_scope').error_description,
      /at most 250 scopes, and 4096 characters.*name one resource/,
    )
  }
  const page = await new PlainBrowser(server).get(authorizeUrl(client, { scope }) + resourcesOf(resources))
  assertReturnPage(page, 'invalid_scope')
})

function resourcesOf(resources: readonly string[]): string {
  return resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
}
