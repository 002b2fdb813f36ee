import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError } from '../../support/error-answer.ts'
import { codeIn, openConsent } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { declareApi, knowApis, obtainCodeFor } from '../../support/apis.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { assertReturnPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'

/** Two APIs that share scope names with different meanings, requested in one grant. */

const STRICT = 'https://strict.example'
const LAX = 'https://lax.example'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await declareApi(server, STRICT, {}, [
  { name: 'read', sentence: 'Read your files', grantedTo: 'users' },
  { name: 'write', sentence: 'Delete everything', grantedTo: 'approved-clients' },
] satisfies readonly ApiScope[])
await declareApi(server, LAX, {}, [
  { name: 'read', sentence: 'Read your notes', grantedTo: 'users' },
  { name: 'write', sentence: 'Add notes', grantedTo: 'users' },
] satisfies readonly ApiScope[])
knowApis(server)

function bothUrl(client: Parameters<typeof authorizeUrl>[0], scope: string): string {
  return `${authorizeUrl(client, { scope, resource: STRICT })}&resource=${encodeURIComponent(LAX)}`
}

test('CC-05: a scope that one API gives only to approved clients is not given by another API with the same scope name', async () => {
  const client = await registerClient(server)
  assertReturnPage(await new PlainBrowser(server).get(bothUrl(client, 'write')), 'invalid_scope')
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'write' })
  const code = await obtainCodeFor(server, client, [STRICT, LAX])
  assert.equal(tokensOf(await redeem(server, client, code, { resource: STRICT })).scope, 'read write')
})

test('CC-05: without scope, a token for several APIs has the scopes that every API that declares them gives', async () => {
  const client = await registerClient(server, { scope: 'read write' })
  const browser = new PlainBrowser(server)
  const page = await openConsent(browser, bothUrl(client, '').replace('scope=&', ''))
  const answer = await browser.submit(page, { decision: 'allow' })
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  assert.equal(tokensOf(await redeem(server, client, code)).scope, 'read')
})

test('the consent page describes a scope that several APIs share in the text of each', async () => {
  const client = await registerClient(server)
  const page = await openConsent(new PlainBrowser(server), bothUrl(client, 'read'))
  assert.match(page.body, /Read your files/)
  assert.match(page.body, /Read your notes/)
})

test('RFC 8707 §2: an API that is requested twice, with and without a trailing slash, counts once', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const url = `${authorizeUrl(client, { scope: 'read', resource: LAX })}&resource=${encodeURIComponent(`${LAX}/`)}`
  const answer = await browser.submit(await openConsent(browser, url), { decision: 'allow' })
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  assert.equal(decodeJwt(tokensOf(await redeem(server, client, code)).access_token).aud, LAX)
})

test('RFC 9728 §2: a client that requests all scopes of the document, as MCP clients do, reaches the sign-in page', async () => {
  const document = await server.inject({ method: 'GET', url: `/v2/oauth/protected-resource?resource=${STRICT}` })
  const scopes = document.json<{ scopes_supported: string[] }>().scopes_supported
  const client = await registerClient(server)
  const start = await new PlainBrowser(server).get(authorizeUrl(client, { scope: scopes.join(' '), resource: STRICT }))
  assert.equal(start.statusCode, 303)
})

test('CC-05: a consent for two APIs allows no scope that one of them declares later', async () => {
  const [notes, files] = ['https://later-notes.example', 'https://later-files.example'] as const
  const [see, list] = [may('see'), may('list')]
  await declareApi(server, notes, {}, [see])
  await declareApi(server, files, {}, [list])
  knowApis(server)
  const client = await registerClient(server, { scope: 'see list' })
  const url = `${authorizeUrl(client, { scope: 'see list', resource: notes })}&resource=${encodeURIComponent(files)}`
  let tokens = await consentTo(client, url)
  assert.equal(tokens.scope, 'see list')

  const refreshFor = async (resource: string, scope: string) => {
    tokens = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource }))
    assert.equal(tokens.scope, scope)
  }
  for (const grantedTo of ['users', 'approved-clients'] as const) {
    await setScopes(files, [list, { ...see, grantedTo }])
    await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'see' })
    await refreshFor(files, 'list')
    await refreshFor(notes, 'see')
    // A token for both would have the scope at both.
    assertError(await refresh(server, client, tokens.refresh_token ?? ''), 400, 'invalid_grant')
  }
  // The scope is declared since the same time, whatever else of the API changes.
  await setScopes(files, [may('share'), see, list])
  tokens = await consentTo(client, url)
  await setScopes(files, [see, list])
  await refreshFor(files, 'see list')
})

test('a remembered consent for two APIs does not cover a scope that one of them declares later', async () => {
  const [notes, files] = ['https://remember-notes.example', 'https://remember-files.example'] as const
  const [edit, move] = [may('edit'), may('move')]
  await declareApi(server, notes, {}, [edit])
  await declareApi(server, files, {}, [move])
  knowApis(server)
  const client = await registerClient(server)
  const url = `${authorizeUrl(client, { scope: 'edit move', resource: notes })}&resource=${encodeURIComponent(files)}`
  const browser = new PlainBrowser(server)
  const isRemembered = async () => codeIn(await browser.get(url)) !== undefined
  const allow = async () => {
    const page = await browser.get(locationOf(await browser.get(url)))
    assert.notEqual(codeIn(await browser.submit(page, { decision: 'allow' })), undefined)
  }
  assert.notEqual(codeIn(await browser.submit(await openConsent(browser, url), { decision: 'allow' })), undefined)
  assert.equal(await isRemembered(), true)
  await setScopes(files, [move, may('copy')])
  assert.equal(await isRemembered(), true)
  await setScopes(files, [move, edit])
  assert.equal(await isRemembered(), false)
  await allow()
  assert.equal(await isRemembered(), true)
})

function may(name: string): ApiScope {
  return { name, sentence: `May ${name}`, grantedTo: 'users' }
}

async function setScopes(resource: string, scopes: readonly ApiScope[]): Promise<void> {
  // Otherwise the scopes may be declared within the millisecond of the last consent.
  server.clock.advance(1)
  await updateApi(server.context, await requireApi(server.context, resource), {
    name: undefined,
    scopes,
    tokens: undefined,
  })
  knowApis(server)
}

async function consentTo(client: RegisteredClient, url: string): Promise<Tokens> {
  const browser = new PlainBrowser(server)
  const answer = await browser.submit(await openConsent(browser, url), { decision: 'allow' })
  return tokensOf(await redeem(server, client, codeIn(answer) ?? ''))
}
