import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyClient } from '../../../src/admin/clients.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  redeem,
  refresh,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { declareApi } from '../../support/apis.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertInvalidGrant } from '../../support/token-answers.ts'
import { assertStoreUnchanged } from '../../support/store-dump.ts'
import { isActive, revoke } from '../../support/token-questions.ts'
import { aMembership, anOrganization } from '../../support/records.ts'
import { formsOf, openOwner, type Owner } from './owner.ts'

const API = 'https://projects.example'
const EVE = 'eve@acme.test'

test('the page shows each app with what it may do, where it leads, and when it was allowed and used', async (t) => {
  const { server, owner } = await openScene(t)
  const client = await registerClient(server, { client_name: 'Build "Board"' })
  const tokens = await connect(owner, server, client, { resource: API })
  server.clock.advance(3 * 60_000)
  await refresh(server, client, tokens.refresh_token ?? '')
  server.clock.advance(2 * 60_000)
  const text = textOf(await owner.open('/account/apps'))
  for (const part of [
    'Build &quot;Board&quot;',
    'Unverified · app.example',
    'Read your projects',
    'Write',
    'at https://projects.example',
    'Allowed 5 minutes ago · used 2 minutes ago · ends on ',
  ])
    assert.ok(text.includes(part), `${part} in: ${text}`)
  await verifyClient(server.context, client.client_id)
  assert.ok(textOf(await owner.open('/account/apps')).includes('Verified by Grantor · app.example'))
})

test('ACC-07: removing an app ends its tokens at once, and the user is asked again', async (t) => {
  const { server, owner, introspecting } = await openScene(t)
  const client = await registerClient(server)
  const first = await connect(owner, server, client, { resource: API })
  const second = await connect(owner, server, client, { resource: API, prompt: 'consent' })
  const other = await registerClient(server)
  const kept = await connect(owner, server, other, { resource: API })
  const before = await owner.browser.get(authorizeUrl(client, { resource: API, prompt: 'none' }))
  const code = new URL(locationOf(before)).searchParams.get('code') ?? ''
  assert.notEqual(code, '')
  const page = await owner.open('/account/apps')
  assert.equal(formsOf(page).length, 2)
  const removed = await owner.submit(page, 'client', {}, client.client_id)
  assert.match(removed.body, /The app was removed/)
  assertInvalidGrant(await redeem(server, client, code, { resource: API }))
  assert.equal(formsOf(removed).length, 1)
  for (const { access_token, refresh_token = '' } of [first, second]) {
    assertInvalidGrant(await refresh(server, client, refresh_token))
    assert.equal(await isActive(server, introspecting, access_token), false)
  }
  assert.equal(await isActive(server, introspecting, kept.access_token), true)
  const silent = await owner.browser.get(authorizeUrl(client, { resource: API, prompt: 'none' }))
  assert.match(silent.body, /error=consent_required/)
})

test('ACC-06: the app of another user, and one that does not exist, get the same answer, and nothing changes', async (t) => {
  const { server, owner } = await openScene(t)
  await createAccount(server, { email: EVE, password: PASSWORD, name: undefined })
  const [mine, hers] = [await registerClient(server), await registerClient(server)]
  await connect(owner, server, mine, {})
  const eve = openOwner(server, EVE)
  await eve.open('/account')
  const tokens = await connect(eve, server, hers, {})
  const [form] = formsOf(await owner.open('/account/apps'))
  const unknown = `gci_${'0'.repeat(12)}${'A'.repeat(22)}`
  const answers = await Promise.all(
    [hers.client_id, unknown].map((client) =>
      assertStoreUnchanged(server, () => owner.browser.post('/account/apps', { ...form?.hidden, client })),
    ),
  )
  assert.deepEqual(
    answers.map((answer) => locationOf(answer)),
    Array<string>(2).fill('http://localhost:3000/account/apps?done=app-removed'),
  )
  assert.equal((await refresh(server, hers, tokens.refresh_token ?? '')).statusCode, 200)
  for (const fields of [{ client: 'x' }, { client: hers.client_id, organization: 'x' }]) {
    const post = () => owner.browser.post('/account/apps', { ...form?.hidden, ...fields })
    assert.equal((await assertStoreUnchanged(server, post)).statusCode, 400)
  }
})

test('what was allowed for an organization is an entry of its own, and is removed alone', async (t) => {
  const { server, owner } = await openScene(t)
  const { store, clock } = server.context
  const user = await store.findUserByEmail(EMAIL)
  assert.ok(user)
  const organization = anOrganization({ name: 'Acme', createdAt: clock(), notBefore: clock() })
  await store.createOrganization(organization)
  await store.addMember(
    aMembership({ userId: user.id, organizationId: organization.id, createdAt: clock(), notBefore: clock() }),
  )
  const client = await registerClient(server)
  const personal = await connect(owner, server, client, { prompt: 'consent' }, { organization: 'none' })
  const forAcme = await connect(owner, server, client, { prompt: 'consent' }, { organization: organization.id })
  const page = await owner.open('/account/apps')
  assert.ok(textOf(page).includes('for Acme'))
  await owner.submit(page, 'organization', {}, organization.id)
  assertInvalidGrant(await refresh(server, client, forAcme.refresh_token ?? ''))
  assert.equal((await refresh(server, client, personal.refresh_token ?? '')).statusCode, 200)
})

test('an app whose access has ended otherwise is not shown', async (t) => {
  const { server, owner } = await openScene(t)
  const [revoked, expired, disabled] = await Promise.all(Array.from({ length: 3 }, () => registerClient(server)))
  assert.ok(revoked && expired && disabled)
  const tokens = await connect(owner, server, revoked, {})
  await revoke(server, revoked, tokens.refresh_token ?? '')
  await connect(owner, server, disabled, {})
  await server.context.store.disableClient({ id: disabled.client_id as never, now: server.clock.now() })
  const short = await registerClient(server, { grant_types: ['authorization_code'] })
  await connect(owner, server, short, {})
  assert.equal(formsOf(await owner.open('/account/apps')).length, 1)
  server.clock.advance(16 * 60_000)
  assert.match((await owner.open('/account/apps')).body, /You have not allowed any app/)
})

interface Scene {
  readonly server: TestServer
  readonly owner: Owner
  /** The API that asks about tokens. */
  readonly introspecting: RegisteredClient
}

async function openScene(t: Parameters<typeof openTestServer>[0]): Promise<Scene> {
  const server = await openTestServer(t)
  await createAda(server)
  const introspecting = await declareApi(server, API, { format: 'jwt' }, [
    { name: 'read', sentence: 'Read your projects', grantedTo: 'users' },
    { name: 'write', sentence: 'Write', grantedTo: 'users' },
  ])
  const owner = openOwner(server)
  await owner.open('/account')
  return { server, owner, introspecting }
}

/** Allows a client everything in the browser of a user who is signed in, and gets its tokens. */
async function connect(
  { browser }: Owner,
  server: TestServer,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>>,
  choice: Readonly<Record<string, string>> = {},
): Promise<Tokens> {
  const consent = await browser.get(locationOf(await browser.get(authorizeUrl(client, parameters))))
  const allowed = new URL(locationOf(await browser.submit(consent, { decision: 'allow', ...choice })))
  const { resource } = parameters
  const answer = await redeem(server, client, allowed.searchParams.get('code') ?? '', resource ? { resource } : {})
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Tokens>()
}

function textOf({ body }: { readonly body: string }): string {
  return body
    .replaceAll(/<(style|svg|form)[^]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
}
