import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
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
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError } from '../../support/error-answer.ts'
import { openConsent } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { assertReturnPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'

/** The scope and the audience of a token: what was requested, registered or is the default, narrowed (docs/apis.md). */

const NOTES = 'https://notes.example'
const FILES = 'https://files.example'
const BARE = 'https://bare.example'
const VAULT = 'https://vault.example'

const scope = (name: string, grantedTo: ApiScope['grantedTo']): ApiScope => ({
  name,
  sentence: `May ${name}`,
  grantedTo,
})
const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await declareApi(server, NOTES, {}, [
  scope('notes:read', 'users-and-machines'),
  scope('notes:write', 'users'),
  scope('notes:purge', 'users-on-request'),
  scope('notes:export', 'approved-clients'),
  scope('shared', 'users-and-machines'),
])
await declareApi(server, FILES, {}, [scope('files:read', 'users-and-machines'), scope('shared', 'users-and-machines')])
await declareApi(server, BARE, {}, [])
await declareApi(server, VAULT, {}, [scope('vault:open', 'approved-clients')])
knowApis(server)

interface Case {
  readonly registered?: string
  readonly approved?: string
  readonly scope?: string
  readonly resource?: string
  /** The scope of the token, or the text of the error. */
  readonly user: readonly [scope: string | undefined, aud: string] | RegExp
  readonly machine: readonly [scope: string | undefined, aud: string] | RegExp
}

const ISSUER = server.origin
const ALL = 'notes:read notes:write notes:purge notes:export'
const SEVERAL =
  /no resource, and its scopes belong to several APIs: https:\/\/files\.example, https:\/\/notes\.example\.$/

const CASES: Readonly<Record<string, Case>> = {
  'RFC 6749 §3.3: without scope, the default of the API is granted': {
    resource: NOTES,
    user: ['notes:read notes:write shared', NOTES],
    machine: ['notes:read shared', NOTES],
  },
  'RFC 6749 §3.3: a request for all scopes is narrowed': {
    scope: `${ALL} nonsense`,
    resource: NOTES,
    user: ['notes:read notes:write notes:purge', NOTES],
    machine: ['notes:read', NOTES],
  },
  'RFC 6749 §3.3: without scope, the registered scope is granted, except scopes on request': {
    registered: ALL,
    resource: NOTES,
    user: ['notes:read notes:write', NOTES],
    machine: ['notes:read', NOTES],
  },
  'CC-02: a machine gets nothing beyond its registration; a user may allow scopes that any client may have': {
    registered: 'notes:read',
    scope: 'notes:read notes:write notes:purge shared',
    resource: NOTES,
    user: ['notes:read notes:write notes:purge shared', NOTES],
    machine: ['notes:read', NOTES],
  },
  'CC-05: a scope that needs an approval is granted only to a client that registered it': {
    registered: 'notes:read',
    approved: 'notes:read notes:export',
    scope: 'notes:read notes:export',
    resource: NOTES,
    user: ['notes:read', NOTES],
    machine: ['notes:read', NOTES],
  },
  'CC-05: the operator’s approval applies to requested scopes': {
    approved: 'notes:export notes:write',
    scope: ALL,
    resource: NOTES,
    user: [ALL, NOTES],
    machine: ['notes:read notes:write notes:export', NOTES],
  },
  'CC-05: the default has no scope that needs an approval': {
    approved: 'notes:export notes:write',
    resource: NOTES,
    user: ['notes:read notes:write shared', NOTES],
    machine: ['notes:read shared', NOTES],
  },
  'CC-05: an approved scope that was registered is granted without being requested': {
    registered: 'notes:export',
    approved: 'notes:export',
    resource: NOTES,
    user: ['notes:export', NOTES],
    machine: ['notes:export', NOTES],
  },
  'RFC 6749 §3.3: if no requested scope remains, the request is refused with the reason for each scope': {
    registered: 'notes:export notes:read',
    scope: 'nonsense notes:export files:read',
    resource: NOTES,
    user: /for https:\/\/notes\.example: nonsense \(not declared\), notes:export \(not approved for the client\), files:read \(not declared\)\.$/,
    machine:
      /: nonsense \(not declared\), notes:export \(not approved for the client\), files:read \(not declared\)\.$/,
  },
  'CC-02: if only the registration lacks a scope, the error says so': {
    registered: 'files:read',
    approved: 'files:read notes:export',
    scope: 'notes:export',
    resource: NOTES,
    user: /: notes:export \(not registered by the client\)\.$/,
    machine: /: notes:export \(not registered by the client\)\.$/,
  },
  'RFC 6749 §3.3: if no default scope remains, a request without scope is refused too': {
    resource: VAULT,
    registered: 'vault:open',
    user: /for https:\/\/vault\.example: vault:open \(not approved for the client\)\.$/,
    machine: /vault:open \(not approved for the client\)/,
  },
  'CC-02: a machine that registered no declared scope gets none; a user is asked for the default': {
    registered: 'nonsense',
    resource: FILES,
    user: ['files:read shared', FILES],
    machine: /: files:read \(not registered by the client\), shared \(not registered by the client\)\.$/,
  },
  'CC-07: a token has a scope of each API that it names': {
    scope: 'files:read',
    resource: `${NOTES} ${FILES}`,
    user: /for https:\/\/notes\.example: none of its scopes was requested or registered\.$/,
    machine: /for https:\/\/notes\.example: none of its scopes was requested or registered\.$/,
  },
  'RFC 8707 §2.2: several resources form one audience': {
    scope: 'notes:read files:read',
    resource: `${NOTES} ${FILES}`,
    user: ['notes:read files:read', `${NOTES} ${FILES}`],
    machine: ['notes:read files:read', `${NOTES} ${FILES}`],
  },
  'decision 0006: tokens for an API without scopes need the consent of a user': {
    resource: BARE,
    user: [undefined, BARE],
    machine: /need the consent of a user: https:\/\/bare\.example\.$/,
  },
  'RFC 6749 §3.3: a scope that an API without scopes cannot give is refused, because no response could omit it': {
    scope: 'nonsense',
    resource: BARE,
    user: /The client gets no scope: nonsense \(not declared\)\.$/,
    machine: /nonsense \(not declared\)/,
  },
  'decision 0005: without resource and scope the token is for the issuer': {
    user: [undefined, ISSUER],
    machine: [undefined, ISSUER],
  },
  'decision 0005: without resource and scope the token is for the issuer, with the registered scope': {
    registered: 'notes:read files:read',
    user: ['notes:read files:read', ISSUER],
    machine: ['notes:read files:read', ISSUER],
  },
  'RFC 9068 §3: without resource, scopes of one API select that API': {
    scope: 'nonsense notes:read notes:write',
    user: ['notes:read notes:write', NOTES],
    machine: ['notes:read', NOTES],
  },
  'RFC 9068 §3: identity scopes select no API': {
    scope: 'openid email profile offline_access notes:read',
    user: ['notes:read', NOTES],
    machine: ['notes:read', NOTES],
  },
  'RFC 9068 §3: without resource, scopes of several APIs are refused': {
    scope: 'notes:read files:read',
    user: SEVERAL,
    machine: SEVERAL,
  },
  'RFC 9068 §3: without resource, a name that two APIs declare is refused': {
    scope: 'shared',
    user: SEVERAL,
    machine: SEVERAL,
  },
  'RFC 9068 §3: without resource, scopes that no API declares are refused': {
    scope: 'nonsense',
    user: /The client gets no scope: nonsense \(not declared\)\.$/,
    machine: /nonsense \(not declared\)/,
  },
  'OpenID Connect Core §3.1.2.1: identity scopes alone are for the issuer, and a machine gets none': {
    scope: 'nonsense openid email phone',
    user: ['openid email', ISSUER],
    machine: /nonsense \(not declared\), openid \(not approved for the client\)/,
  },
}

for (const [title, { registered, approved, user, machine, ...request }] of Object.entries(CASES)) {
  test(title, async () => {
    const client = await registerClient(server, registered === undefined ? {} : { scope: registered })
    if (approved !== undefined)
      await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: approved })
    await assertDecision(machine, () => askAsMachine(client, request))
    await assertDecision(user, () => askAsUser(client, request))
  })
}

type Asked = Pick<Case, 'scope' | 'resource'>

/** The same request of one grant type; a refusal changes nothing. */
async function assertDecision(expected: Case['user'], ask: () => Promise<Outcome>): Promise<void> {
  if (expected instanceof RegExp) {
    const refused = await assertStoreUnchanged(server, ask)
    assert.match(refused.description ?? '', expected)
  } else {
    const { description, token = '' } = await ask()
    assert.equal(description, undefined)
    const { scope: given, aud = [] } = decodeJwt<{ scope?: string }>(token)
    assert.deepEqual([given, [aud].flat().join(' ')], expected)
  }
}

interface Outcome {
  readonly token?: string
  readonly description?: string
}

async function askAsMachine(client: RegisteredClient, { scope: wanted, resource }: Asked): Promise<Outcome> {
  const { client_id, client_secret = '' } = client
  const payload = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  if (wanted !== undefined) payload.set('scope', wanted)
  for (const one of resource?.split(' ') ?? []) payload.append('resource', one)
  const answer = await postForm(server, '/v2/oauth/token', payload)
  if (answer.statusCode === 200) return { token: answer.json().access_token }
  assertError(answer, 400, 'invalid_scope')
  return { description: answer.json().error_description }
}

async function askAsUser(client: RegisteredClient, { scope: wanted, resource }: Asked): Promise<Outcome> {
  const url = authorizeUrl(client, wanted === undefined ? {} : { scope: wanted })
  const tail = resource?.split(' ').map((one) => `&resource=${encodeURIComponent(one)}`) ?? []
  const browser = new PlainBrowser(server)
  const start = await browser.get(url + tail.join(''))
  if (start.statusCode === 400) {
    const description = assertReturnPage(start, 'invalid_scope').searchParams.get('error_description') ?? ''
    assert.ok(start.body.includes(description), 'the page does not say what the link says')
    return { description }
  }
  const page = await openConsent(browser, locationOf(start))
  const answer = new URL(locationOf(await browser.submit(page, { decision: 'allow' })))
  const tokens = tokensOf(await redeem(server, client, answer.searchParams.get('code') ?? ''))
  return { token: tokens.access_token }
}

test('the log has each refused scope and its reason', async () => {
  const client = await registerClient(server)
  const secret = 'x'.repeat(300)
  assertError(
    await requestToken(server, client, { grant_type: 'client_credentials', scope: `notes:export ${secret}` }),
    400,
    'invalid_scope',
  )
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.includes(client.client_id))
  const line = (event: string) => JSON.parse(lines.find((one) => one.includes(`"${event}"`)) ?? '{}')
  const { reason, not_approved, not_declared } = line('scope.refused')
  assert.deepEqual([reason, not_approved], ['scope_not_allowed', 'notes:export'])
  assert.ok(not_declared.length < 120, 'a scope that the caller made up is cut')
  assert.match(
    line('request.refused').description,
    /^The client gets no scope for https:\/\/notes\.example: notes:export/,
  )
})

test('RFC 6749 §5.2: the description names at most eight scopes, and 100 characters of each', async () => {
  const client = await registerClient(server)
  const many = Array.from({ length: 90 }, (_, index) => `s${index}${'x'.repeat(110)}`).join(' ')
  const { description = '' } = await askAsMachine(client, { scope: many, resource: NOTES })
  assert.match(description, /, and 82 more\.$/)
  assert.ok(description.length < 1200)
})

test('RT-08: a refresh may repeat the scope that was requested at the start, and gets the granted scope', async () => {
  const client = await registerClient(server)
  const requested = 'notes:read notes:export nonsense'
  const code = await obtainCode(server, client, { scope: requested, resource: NOTES })
  const first = tokensOf(await redeem(server, client, code))
  assert.equal(first.scope, 'notes:read')
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'notes:export' })
  const second = tokensOf(await refresh(server, client, first.refresh_token ?? '', { scope: requested }))
  assert.equal(second.scope, 'notes:read')
  for (const wanted of ['notes:read notes:write', 'notes:export', 'nonsense', 'notes:read other']) {
    const refused = await assertStoreUnchanged(server, () =>
      refresh(server, client, second.refresh_token ?? '', { scope: wanted }),
    )
    assertError(refused, 400, 'invalid_scope')
    assert.match(refused.json().error_description, /^The request has more scope than was granted: \S+\.$/)
  }
})

test('RT-08: scopes that were requested and not granted are stored up to 1,024 characters', async () => {
  const client = await registerClient(server)
  const requested = `notes:read ${'x'.repeat(1025)}`
  const tokens = tokensOf(await redeem(server, client, await obtainCode(server, client, { scope: requested })))
  assertError(await refresh(server, client, tokens.refresh_token ?? '', { scope: requested }), 400, 'invalid_scope')
  tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { scope: 'notes:read' }))
})

test('CC-07: a refresh for several APIs must keep a scope of each', async () => {
  const client = await registerClient(server)
  const url = `${authorizeUrl(client, { scope: 'notes:read files:read', resource: NOTES })}&resource=${FILES}`
  const browser = new PlainBrowser(server)
  const answer = await browser.submit(await openConsent(browser, url), { decision: 'allow' })
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  const { refresh_token: token = '' } = tokensOf(await redeem(server, client, code))
  const refused = await assertStoreUnchanged(server, () => refresh(server, client, token, { scope: 'files:read' }))
  assertError(refused, 400, 'invalid_scope')
  assert.match(refused.json().error_description, /for https:\/\/notes\.example/)
  const one = tokensOf(await refresh(server, client, token, { scope: 'files:read', resource: FILES }))
  assert.equal(one.scope, 'files:read')
})
