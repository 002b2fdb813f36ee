import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import {
  authorizeUrl,
  locationOf,
  obtainCode,
  PlainBrowser,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openConsent } from '../../support/organizations.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { assertReturnPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

/** Scopes on request, APIs that change their scopes, and how the consent page shows both. */

const NOTES = 'https://notes.example'
const FILES = 'https://files.example'
const MACHINE = { grant_type: 'client_credentials' }
const READ: ApiScope = { name: 'read', sentence: 'Read your notes', grantedTo: 'users' }
const PURGE: ApiScope = { name: 'purge', sentence: 'Delete all notes', grantedTo: 'users-on-request' }

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await declareApi(server, NOTES, {}, [READ, PURGE])
await declareApi(server, FILES, {}, [])
knowApis(server)

async function setScopes(own: TestServer, resource: string, scopes: readonly ApiScope[]): Promise<void> {
  await updateApi(own.context, await requireApi(own.context, resource), { scopes })
  knowApis(own)
}

test('RFC 8414 §2, RFC 9728 §2: no metadata document lists a scope that is granted only on request', async () => {
  for (const [url, scopes] of [
    ['/.well-known/oauth-authorization-server', ['email', 'openid', 'profile', 'read']],
    [`/v2/oauth/protected-resource?resource=${NOTES}`, ['read']],
  ] as const)
    assert.deepEqual((await server.inject({ url })).json().scopes_supported, scopes, url)
})

test('CC-05: a scope on request requires a request that names it and the user’s consent', async () => {
  const client = await registerClient(server, { scope: 'read purge' })
  const silent = await openConsent(new PlainBrowser(server), authorizeUrl(client, { resource: NOTES }))
  assert.match(silent.body, /Read your notes/)
  assert.doesNotMatch(silent.body, /Delete all notes/)
  const named = await openConsent(new PlainBrowser(server), authorizeUrl(client, { scope: 'read purge' }))
  assert.match(named.body, /Delete all notes/)
  const code = await obtainCode(server, client, { scope: 'purge' })
  assert.equal(tokensOf(await redeem(server, client, code)).scope, 'purge')
  assertError(await requestToken(server, client, { ...MACHINE, scope: 'purge' }), 400, 'invalid_scope')
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'purge' })
  assert.equal(tokensOf(await requestToken(server, client, { ...MACHINE, scope: 'purge' })).scope, 'purge')
})

test('CC-07: an API that declares scopes later gets no token of a grant without any of them', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  await declareApi(own, FILES, {}, [])
  knowApis(own)
  const client = await registerClient(own)
  const tokens = tokensOf(await redeem(own, client, await obtainCode(own, client, { resource: FILES })))
  assert.equal(tokens.scope, undefined)
  const code = await obtainCode(own, client, { resource: FILES, prompt: 'consent' })
  await setScopes(own, FILES, [READ])
  for (const ask of [() => redeem(own, client, code), () => refresh(own, client, tokens.refresh_token ?? '')])
    assertError(await assertStoreUnchanged(own, ask), 400, 'invalid_grant')
  assert.match(own.log(), /"reason":"scope_gone"/)
  await setScopes(own, FILES, [])
  tokensOf(await refresh(own, client, tokens.refresh_token ?? ''))
})

test('RFC 8707 §2.2: the token endpoint accepts several resources in any order, and counts each once', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const resources = ['https://one.example', 'https://two.example', 'https://three.example'] as const
  for (const resource of resources) await declareApi(own, resource)
  knowApis(own)
  const client = await registerClient(own)
  const ask = (form: Readonly<Record<string, string>>, asked: readonly string[]) => {
    const { client_id, client_secret = '' } = client
    const body = new URLSearchParams({ client_id, client_secret, ...form })
    for (const resource of asked) body.append('resource', resource)
    return postForm(own, '/v2/oauth/token', body)
  }
  const [one, two, three] = resources
  const machine = tokensOf(await ask({ ...MACHINE, scope: 'read' }, [two, `${two}/`, one]))
  assert.deepEqual(decodeJwt(machine.access_token).aud, [two, one])

  const browser = new PlainBrowser(own)
  const url = authorizeUrl(client) + resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
  const answer = await browser.submit(await openConsent(browser, url), { decision: 'allow' })
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  const first = tokensOf(await redeem(own, client, code))
  assert.deepEqual(decodeJwt(first.access_token).aud, resources)
  const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '' }
  const foreign = await assertStoreUnchanged(own, () => ask(form, [one, 'https://four.example']))
  assert.deepEqual(problemsOf(assertError(foreign, 400, 'invalid_target')), ['body.resource:value_error'])
  const many = Array.from({ length: 9 }, (_, index) => `${one}/${index}`)
  assertError(await assertStoreUnchanged(own, () => ask(form, many)), 400, 'invalid_target')
  const some = tokensOf(await ask(form, [`${three}/`, one]))
  assert.deepEqual(decodeJwt(some.access_token).aud, [one, three])
})

test('decision 0022: the consent page describes the access of a token if the client requests no scope', async () => {
  const client = await registerClient(server)
  const pageFor = async (parameters: Readonly<Record<string, string>>): Promise<string> =>
    (await openConsent(new PlainBrowser(server), authorizeUrl(client, parameters))).body
  assert.match(await pageFor({}), pageSays('noScope'))
  assert.match(await pageFor({ resource: NOTES }), /It will be able to[\s\S]*Read your notes/)
  assert.match(await pageFor({ resource: FILES }), /at <bdi>https:\/\/files\.example<\/bdi> is not limited/)
})

test('RFC 6749 §4.1.2.1: the error page names the refused scopes, escaped', async () => {
  const client = await registerClient(server)
  const wanted = '<b>'
  const page = await new PlainBrowser(server).get(authorizeUrl(client, { scope: wanted }))
  const link = assertReturnPage(page, 'invalid_scope')
  assert.equal(link.searchParams.get('error_description'), `The client gets no scope: ${wanted} (not declared).`)
  assert.ok(!page.body.includes('<b>'), 'the page does not escape a scope')
})
