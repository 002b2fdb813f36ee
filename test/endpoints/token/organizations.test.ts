import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { SERVER_TOKENS } from '../../../src/admin/api/api.ts'
import { createApi } from '../../../src/admin/api/api.ts'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import type { OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import {
  authorizeUrl,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import {
  addMember,
  clientId,
  codeIn,
  createOrganization,
  createPerson,
  install,
  openConsent,
} from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { introspect } from '../../support/token-questions.ts'
import { anApiDeclaration } from '../../support/records.ts'

const API = 'https://api.example'
const OPAQUE_API = 'https://opaque.example'
const NOBODY = `gus_${'0'.repeat(34)}`
const NOWHERE = `gor_${'0'.repeat(34)}`

const server = await openTestServer(WHOLE_FILE)
const scopes: readonly ApiScope[] = [
  { name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' },
  { name: 'write', sentence: 'Write', grantedTo: 'users-and-machines' },
  { name: 'admin', sentence: 'Administer', grantedTo: 'approved-clients' },
  { name: 'own', sentence: 'See what is yours', grantedTo: 'users' },
]
await createApi(server.context, anApiDeclaration(API, { scopes }))
const opaque = { ...SERVER_TOKENS, format: 'opaque' } as const
await createApi(server.context, anApiDeclaration(OPAQUE_API, { scopes, tokens: opaque }))
server.clock.advance(2000)
const ada = await createPerson(server)
const eve = await createPerson(server, 'eve@acme.test')
const acme = await createOrganization(server, 'Acme')
const beta = await createOrganization(server, 'Beta')
await addMember(server, ada, acme)
await addMember(server, eve, beta)

/** A code for a client, from Ada, for an organization or for none. */
async function codeFor(client: RegisteredClient, organization: OrganizationId | 'none', parameters = {}) {
  const browser = new PlainBrowser(server)
  const page = await openConsent(browser, authorizeUrl(client, parameters))
  const code = codeIn(await browser.submit(page, { decision: 'allow', organization }))
  assert.ok(code)
  return code
}

test('decision 0005: every token of the grant has the organization of the consent, and so has introspection', async () => {
  const client = await registerClient(server)
  const tokens = (await redeem(server, client, await codeFor(client, acme))).json<Tokens>()
  const second = (await refresh(server, client, tokens.refresh_token ?? '')).json<Tokens>()
  for (const text of [tokens.access_token, second.access_token]) {
    const { org_id, sub, act } = decodeJwt(text)
    assert.deepEqual({ org_id, sub, act }, { org_id: acme, sub: ada, act: undefined })
  }
  for (const text of [second.access_token, second.refresh_token ?? '']) {
    const { active, org_id, sub } = (await introspect(server, client, text)).json()
    assert.deepEqual({ active, org_id, sub }, { active: true, org_id: acme, sub: ada })
  }
})

test('decision 0005: a consent without an organization gives tokens without one', async () => {
  const client = await registerClient(server)
  const tokens = (await redeem(server, client, await codeFor(client, 'none'))).json<Tokens>()
  assert.ok(!('org_id' in decodeJwt(tokens.access_token)))
  assert.ok(!('org_id' in (await introspect(server, client, tokens.access_token)).json()))
})

test('decision 0005: with a code, org_id and user_id must be those of the grant; an error does not redeem the code', async () => {
  const client = await registerClient(server)
  const code = await codeFor(client, acme)
  const wrongs = [...wrongOrganizations(beta), ...wrongUsers(eve)]
  for (const [field, form] of wrongs) {
    const answer = await assertStoreUnchanged(server, () => redeem(server, client, code, form))
    assertMismatch(answer, field)
  }
  const answer = await redeem(server, client, code, { org_id: acme, user_id: ada })
  assert.equal(answer.statusCode, 200, answer.body)
})

test('decision 0005: at refresh, org_id and user_id must be those of the grant; an error does not rotate the token', async () => {
  const client = await registerClient(server)
  const tokens = (await redeem(server, client, await codeFor(client, acme))).json<Tokens>()
  for (const [field, form] of [...wrongOrganizations(beta), ...wrongUsers(eve)]) {
    const answer = await assertStoreUnchanged(server, () => refresh(server, client, tokens.refresh_token ?? '', form))
    assertMismatch(answer, field)
  }
  const answer = await refresh(server, client, tokens.refresh_token ?? '', { org_id: acme, user_id: ada })
  assert.equal(answer.statusCode, 200, answer.body)
})

test('decision 0005: a grant without an organization cannot be widened to an organization of the user', async () => {
  const client = await registerClient(server)
  const code = await codeFor(client, 'none')
  assertMismatch(await redeem(server, client, code, { org_id: acme }), 'org_id')
  const tokens = (await redeem(server, client, code)).json<Tokens>()
  assertMismatch(await refresh(server, client, tokens.refresh_token ?? '', { org_id: acme }), 'org_id')
})

test('CC-04: a client gets tokens for the organization that installed it, and names it there', async () => {
  const client = await registerClient(server)
  await install(server, client, acme)
  for (const resource of [API, OPAQUE_API]) {
    const tokens = await machineTokens(client, { org_id: acme, resource })
    const { active, org_id, sub, act } = (await introspect(server, client, tokens.access_token)).json()
    assert.deepEqual([active, org_id, sub, act], [true, acme, client.client_id, undefined])
  }
  const { org_id, sub, act } = decodeJwt((await machineTokens(client, { org_id: acme })).access_token)
  assert.deepEqual([org_id, sub, act], [acme, client.client_id, undefined])
  assert.ok(!('org_id' in decodeJwt((await machineTokens(client, {})).access_token)))
})

test('CC-04: the error is the same for an organization that did not install the client, does not exist or is malformed', async () => {
  const client = await registerClient(server)
  await install(server, client, acme)
  const answers = []
  for (const [field, form] of wrongOrganizations(beta)) {
    const answer = await assertStoreUnchanged(server, () => askAsMachine(client, form))
    assertMismatch(answer, field)
    answers.push(withoutInput(answer.body))
  }
  assert.equal(new Set(answers).size, 1)
})

test('CC-04: a client acts for a member if the organization allows it, and the token names the client as the actor', async () => {
  const client = await registerClient(server)
  await install(server, client, acme, { actsForMembers: true })
  for (const resource of [API, OPAQUE_API]) {
    const tokens = await machineTokens(client, { org_id: acme, user_id: ada, resource })
    assert.equal(tokens.refresh_token, undefined)
    const { active, org_id, sub, act } = (await introspect(server, client, tokens.access_token)).json()
    assert.deepEqual([active, org_id, sub, act], [true, acme, ada, { sub: client.client_id }])
  }
  const { sub, act } = decodeJwt((await machineTokens(client, { org_id: acme, user_id: ada })).access_token)
  assert.deepEqual([sub, act], [ada, { sub: client.client_id }])
})

test('CC-04: the error is the same for an unknown user, a user outside the organization, and a client without permission', async () => {
  const client = await registerClient(server)
  await install(server, client, acme, { actsForMembers: true })
  const modest = await registerClient(server)
  await install(server, modest, acme)
  const refused: readonly (readonly [RegisteredClient, Readonly<Record<string, string>>])[] = [
    ...wrongUsers(eve).map(([, form]) => [client, { org_id: acme, ...form }] as const),
    [modest, { org_id: acme, user_id: ada }],
    [client, { user_id: ada }],
    [modest, { user_id: ada }],
  ]
  const answers = []
  for (const [who, form] of refused) {
    const answer = await assertStoreUnchanged(server, () => askAsMachine(who, form))
    assertMismatch(answer, 'user_id')
    answers.push(withoutInput(answer.body))
  }
  assert.equal(new Set(answers).size, 1)
})

test('CC-04: with org_id a client gets at most the scope of the installation, with and without a requested scope', async () => {
  const client = await registerClient(server, { scope: 'read write admin own' })
  await install(server, client, acme, { scope: 'read admin own' as Scope })
  for (const form of [{}, { scope: 'read' }, { scope: 'read write admin own' }])
    assert.equal((await machineTokens(client, { org_id: acme, resource: API, ...form })).scope, 'read')
  assert.equal((await machineTokens(client, { resource: API })).scope, 'read write')
  assert.equal((await machineTokens(client, { org_id: acme })).scope, 'read')
  for (const scope of ['write', 'admin', 'own']) {
    const answer = await askAsMachine(client, { org_id: acme, scope, resource: API })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_scope'], scope)
  }
})

test('CC-04: a scope for approved clients requires the operator’s approval and the installation', async () => {
  const client = await registerClient(server, { scope: 'read admin' })
  await server.context.store.approveClientScope({ id: clientId(client), scope: 'admin' as Scope })
  await install(server, client, acme, { scope: 'read' as Scope })
  const form = { org_id: acme, scope: 'admin', resource: API }
  const refused = await askAsMachine(client, form)
  assert.match(refused.json().error_description, /: admin \(not part of the installation\)\.$/)
  await install(server, client, acme, { scope: 'read admin' as Scope })
  assert.equal((await machineTokens(client, form)).scope, 'admin')
})

test('CC-04: an installation is for one client only, and a public client cannot use one', async () => {
  const client = await registerClient(server)
  const other = await registerClient(server)
  await install(server, client, acme)
  assertMismatch(await askAsMachine(other, { org_id: acme }), 'org_id')
  const open = await registerClient(server, { token_endpoint_auth_method: 'none' })
  await install(server, open, acme)
  assert.equal((await askAsMachine(open, { org_id: acme })).json().error, 'unauthorized_client')
})

test('not-before times are compared in milliseconds: within one second, earlier tokens are inactive and later ones active', async () => {
  const client = await registerClient(server)
  await install(server, client, acme)
  for (const resource of [API, OPAQUE_API]) {
    // The whole case happens within one second of the clock, which advances automatically.
    server.clock.advance(1000 - (server.clock.now() % 1000))
    const before = await machineTokens(client, { org_id: acme, resource })
    server.clock.advance(5)
    await install(server, client, acme)
    server.clock.advance(5)
    const after = await machineTokens(client, { org_id: acme, resource })
    const [first, second] = await Promise.all([
      introspect(server, client, before.access_token),
      introspect(server, client, after.access_token),
    ])
    assert.deepEqual([first.json().active, second.json().active], [false, true], resource)
  }
})

function wrongOrganizations(other: OrganizationId): readonly (readonly [string, { org_id: string }])[] {
  return [other, NOWHERE, 'x', acme.toUpperCase(), `${acme} `, ada].map((org_id) => ['org_id', { org_id }])
}

function wrongUsers(other: UserId): readonly (readonly [string, { user_id: string }])[] {
  return [other, NOBODY, 'x', ada.toUpperCase(), `${ada} `, acme].map((user_id) => ['user_id', { user_id }])
}

function askAsMachine(client: RegisteredClient, form: Readonly<Record<string, string>>) {
  return requestToken(server, client, { grant_type: 'client_credentials', ...form })
}

async function machineTokens(client: RegisteredClient, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const answer = await askAsMachine(client, form)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Tokens>()
}

function assertMismatch(answer: LightMyRequestResponse, field: string): void {
  const {
    error,
    error_description: description,
    detail,
  } = answer.json<{ error: string; error_description: string; detail: readonly { loc: readonly string[] }[] }>()
  assert.deepEqual([answer.statusCode, error], [400, 'invalid_request'], answer.body)
  assert.match(description, new RegExp(`^The request is not for the (organization|user) in ${field}\\.$`))
  assert.deepEqual(
    detail.map(({ loc }) => loc),
    [['body', field]],
  )
}

/** The response without the values of the request. */
function withoutInput(body: string): string {
  return body.replace(/"input":"[^"]*"/, '')
}
