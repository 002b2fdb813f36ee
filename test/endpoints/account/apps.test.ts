import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../src/admin/user/link.ts'
import { setPassword } from '../../../src/admin/user/user.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { declareApi } from '../../support/apis.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertInvalidGrant } from '../../support/token-answers.ts'
import { assertStoreUnchanged, execute } from '../../support/store/dump.ts'
import { isActive, revoke } from '../../support/token-questions.ts'
import { aMembership, anOrganization } from '../../support/records.ts'
import { formsOf, openOwner, removalsOf, type Owner } from './owner.ts'
import { perform, performOnUser } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

const API = 'https://projects.example'
const EVE = 'eve@acme.test'

test('the page shows each app with what it may do, where it leads, and when it was allowed and used', async (t) => {
  const { server, owner } = await openServerWithApps(t)
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
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  assert.ok(textOf(await owner.open('/account/apps')).includes('Verified by Grantor · app.example'))
})

test('AG-18: an app whose tokens are held for another network is listed as paused, until it goes on there', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  const client = await registerClient(server)
  const elsewhere = { ...server, inject: (one: object) => server.inject({ ...one, remoteAddress: '127.0.0.3' }) }
  const { refresh_token: first = '' } = await connect(owner, server, client, { resource: API })
  const { refresh_token: newest = '' } = (await refresh(server, client, first)).json<Tokens>()
  const isPaused = async () =>
    textOf(await owner.open('/account/apps')).includes(
      'Paused. A copy of this app’s access was used that came from another network or was very old.',
    )
  server.clock.advance(60_000)
  assert.equal(await isPaused(), false)
  assertInvalidGrant(await refresh(elsewhere, client, first))
  assert.equal(await isPaused(), true)
  assert.equal((await refresh(elsewhere, client, newest)).statusCode, 200)
  assert.equal(await isPaused(), false)
})

test('the page lists the 50 apps that were used last, and says that there are more', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const owner = openOwner(server)
  await owner.open('/account')
  for (let count = 0; count < 51; count += 1) {
    const client = await registerClient(server, { client_name: `App ${count}.` })
    const answer = await signInAndAllow(owner.browser, authorizeUrl(client))
    await redeem(server, client, answer.searchParams.get('code') ?? '')
    server.clock.advance(1)
  }
  const { body } = await owner.open('/account/apps')
  assert.equal(body.match(/<h2 id="row-/g)?.length, 50)
  assert.match(body, /There are more/)
  assert.doesNotMatch(body, /App 0\./)
})

test('ACC-07: removing an app ends its tokens at once, and the user is asked again', async (t) => {
  const { server, owner, introspecting } = await openServerWithApps(t)
  const client = await registerClient(server)
  const first = await connect(owner, server, client, { resource: API })
  const second = await connect(owner, server, client, { resource: API, prompt: 'consent' })
  const other = await registerClient(server)
  const kept = await connect(owner, server, other, { resource: API })
  const before = await owner.browser.get(authorizeUrl(client, { resource: API, prompt: 'none' }))
  const code = new URL(locationOf(before)).searchParams.get('code') ?? ''
  assert.notEqual(code, '')
  const page = await owner.open('/account/apps')
  assert.equal(removalsOf(page).length, 2)
  const removed = await owner.remove(page, 'client', client.client_id)
  assert.match(removed.body, pageSays('account.notices.app-removed'))
  assertInvalidGrant(await redeem(server, client, code, { resource: API }))
  assert.equal(removalsOf(removed).length, 1)
  for (const { access_token, refresh_token = '' } of [first, second]) {
    assertInvalidGrant(await refresh(server, client, refresh_token))
    assert.equal(await isActive(server, introspecting, access_token), false)
  }
  assert.equal(await isActive(server, introspecting, kept.access_token), true)
  const silent = await owner.browser.get(authorizeUrl(client, { resource: API, prompt: 'none' }))
  assert.match(silent.body, /error=consent_required/)
})

test('an app that the operator lets in without a question is not said to ask, and gets in again after its removal', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  const redirect_uri = 'https://app.example/callback'
  const metadata = { client_name: 'Mail', redirect_uris: [redirect_uri], scope: 'read', rules: { consent: 'implied' } }
  const client = await perform<RegisteredClient>(server.context, 'client.create', metadata)
  const url = authorizeUrl(client, { redirect_uri, resource: API, scope: 'read' })
  const enter = async () => new URL(locationOf(await owner.browser.get(url))).searchParams.get('code') ?? ''
  await redeem(server, client, await enter(), { redirect_uri, resource: API })
  const [removal] = removalsOf(await owner.open('/account/apps'))
  const asked = await owner.browser.get(`${removal?.pathname}${removal?.search}`)
  assert.match(asked.body, pageSays('account.removeImpliedConsequence'))
  assert.doesNotMatch(asked.body, pageSays('account.removeAppConsequence'))
  await owner.browser.submit(asked, {})
  assert.match(await enter(), /^gac_/)
})

test('ACC-06: the app of another user, and one that does not exist, get the same answer, and nothing changes', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  await createAccount(server, { email: EVE, password: PASSWORD, name: undefined })
  const [mine, hers] = [await registerClient(server), await registerClient(server)]
  await connect(owner, server, mine, {})
  const eve = openOwner(server, EVE)
  await eve.open('/account')
  const tokens = await connect(eve, server, hers, {})
  const [own] = removalsOf(await owner.open('/account/apps'))
  const question = await owner.browser.get(`${own?.pathname}${own?.search}`)
  assert.match(question.body, /Remove <bdi>[^<]*<\/bdi>\?[^]*It loses its access at once/)
  const [form] = formsOf(question)
  for (const client of [hers.client_id, 'gci_x', '']) {
    const asked = await owner.browser.get(`/account/apps/remove?client=${client}`)
    assert.equal(locationOf(asked), 'http://localhost:3000/account/apps')
  }
  const unknown = `gci_${'0'.repeat(12)}${'A'.repeat(22)}`
  const answers = await Promise.all(
    [hers.client_id, unknown].map((client) =>
      assertStoreUnchanged(server, () => owner.browser.post('/account/apps/remove', { ...form?.hidden, client })),
    ),
  )
  assert.deepEqual(
    answers.map((answer) => locationOf(answer)),
    Array<string>(2).fill('http://localhost:3000/account/apps?done=app-removed'),
  )
  assert.equal((await refresh(server, hers, tokens.refresh_token ?? '')).statusCode, 200)
  for (const fields of [{ client: 'x' }, { client: hers.client_id, organization: '/x' }]) {
    const post = () => owner.browser.post('/account/apps/remove', { ...form?.hidden, ...fields })
    assert.equal((await assertStoreUnchanged(server, post)).statusCode, 400)
  }
})

test('a consent for an organization is a separate entry, and is removed separately', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  const { store, clock } = server.context
  const user = await store.findUserByEmail(EMAIL)
  assert.ok(user)
  const organization = anOrganization({ name: 'Acme', createdAt: clock(), notBefore: clock() })
  await store.createOrganization(organization)
  const since = { createdAt: clock(), notBefore: clock() }
  await store.addMember({ ...aMembership({ userId: user.id, organizationId: organization.id, ...since }), mails: [] })
  const client = await registerClient(server)
  const personal = await connect(owner, server, client, { prompt: 'consent' }, { organization: 'none' })
  const forAcme = await connect(owner, server, client, { prompt: 'consent' }, { organization: organization.id })
  const page = await owner.open('/account/apps')
  assert.ok(textOf(page).includes('for Acme'))
  await owner.remove(page, 'organization', organization.id)
  assertInvalidGrant(await refresh(server, client, forAcme.refresh_token ?? ''))
  assert.equal((await refresh(server, client, personal.refresh_token ?? '')).statusCode, 200)
})

/** What ends what a user has allowed, with the password that the user has then. */
const NEW = 'another long horse'
const ENDINGS: Readonly<Record<string, (server: TestServer, owner: Owner) => Promise<string>>> = {
  'a reset link': async (server) => {
    const browser = new PlainBrowser(server)
    const page = await browser.get((await createLink(server.context, EMAIL)).address)
    assert.match(
      (await browser.submit(page, { password: NEW, repeated: NEW })).body,
      pageSays('account.linkUsedHeading'),
    )
    return NEW
  },
  'a password of the operator': async ({ context }) => {
    await setPassword(context, EMAIL, NEW)
    return NEW
  },
  'a password of the user': async (_, owner) => {
    const page = await owner.open('/account/security/password')
    const changed = await owner.submit(page, 'password', { password: NEW, repeated: NEW })
    assert.match(changed.body, pageSays('account.notices.password-changed'))
    return NEW
  },
  'user revoke-tokens': async ({ context }) => {
    await performOnUser(context, 'user.revoke-tokens', EMAIL)
    return PASSWORD
  },
  'user disable and user enable': async ({ context }) => {
    await performOnUser(context, 'user.disable', EMAIL)
    await performOnUser(context, 'user.enable', EMAIL)
    return PASSWORD
  },
  'token revoke-all': async ({ context, clock }) => {
    await context.store.revokeAllTokens({ now: clock.now() })
    return PASSWORD
  },
  'a not-before time alone, by a node that deletes no consents': async (server) => {
    execute(server, `update users set not_before = ${server.clock.now()}`)
    await server.context.store.renameUser({ id: await idOfAda(server), name: 'Ada', now: server.clock.now() })
    return PASSWORD
  },
}

for (const [way, end] of Object.entries(ENDINGS)) {
  for (const hasGrant of [true, false]) {
    test(`LNK-03: ${way} ends the consent of before ${hasGrant ? 'with' : 'without'} a valid grant: the app asks again`, async (t) => {
      const { server, owner } = await openServerWithApps(t)
      const client = await registerClient(server)
      const tokens = await connect(owner, server, client, { resource: API, scope: 'read write' })
      if (!hasGrant) await revoke(server, client, tokens.refresh_token ?? '')
      const silent = (browser: PlainBrowser, parameters = {}) =>
        browser.get(authorizeUrl(client, { resource: API, scope: 'read', prompt: 'none', ...parameters }))
      assert.match(locationOf(await silent(owner.browser)), /[?&]code=/)
      server.clock.advance(2000)
      const password = await end(server, owner)
      server.clock.advance(2000)

      const again = openOwner(server, EMAIL, password)
      const page = await again.open('/account/apps')
      // A password of the user keeps the grants.
      const keepsGrants = hasGrant && way === 'a password of the user'
      assert.equal(removalsOf(page).length, keepsGrants ? 1 : 0, textOf(page))
      const answer = await silent(again.browser)
      // Only a valid grant or consent lets the error be redirected (AUTH-10).
      assert.equal(answer.statusCode, keepsGrants ? 303 : 400)
      assert.match(keepsGrants ? locationOf(answer) : answer.body, /error=consent_required/)
      // The new consent has its own scope alone.
      await connect(again, server, client, { resource: API, scope: 'read' })
      assert.match(locationOf(await silent(again.browser)), /[?&]code=/)
      assert.match(locationOf(await silent(again.browser, { scope: 'write' })), /error=consent_required/)
    })
  }
}

test('LNK-03: an app without a valid token is shown while it gets one without a question, and can be removed', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  const { store, clock } = server.context
  const organization = anOrganization({ name: 'Acme', createdAt: clock(), notBefore: clock() })
  await store.createOrganization(organization)
  const userId = await idOfAda(server)
  const membership = { userId, organizationId: organization.id }
  await store.addMember({ ...aMembership({ ...membership, createdAt: clock(), notBefore: clock() }), mails: [] })
  const client = await registerClient(server, { client_name: 'Evil' })
  for (const choice of ['none', organization.id]) {
    const asked = { resource: API, scope: 'read', prompt: 'consent' }
    const tokens = await connect(owner, server, client, asked, { organization: choice })
    await revoke(server, client, tokens.refresh_token ?? '')
  }
  server.clock.advance(3 * 60_000)
  const page = await owner.open('/account/apps')
  for (const part of [
    'Evil',
    'for Acme',
    'Read your projects',
    'at https://projects.example',
    'Allowed 3 minutes ago · has no access now',
  ])
    assert.ok(textOf(page).includes(part), `${part} in: ${textOf(page)}`)
  assert.equal(removalsOf(page).length, 2)
  await store.disableMember({ ...membership, now: clock() })
  assert.equal(removalsOf(await owner.open('/account/apps')).length, 1)
  await store.disableClient({ id: client.client_id as never, now: clock() })
  assert.equal(removalsOf(await owner.open('/account/apps')).length, 0)
  await store.enableClient(client.client_id as never)
  const removed = await owner.remove(await owner.open('/account/apps'), 'client', client.client_id)
  assert.equal(removalsOf(removed).length, 0)
  const silent = await owner.browser.get(authorizeUrl(client, { resource: API, scope: 'read', prompt: 'none' }))
  assert.match(silent.body, /error=consent_required/)
})

async function idOfAda({ context }: TestServer): Promise<UserId> {
  const user = await context.store.findUserByEmail(EMAIL)
  assert.ok(user)
  return user.id
}

test('an app whose access has ended in another way is not shown if it must ask for consent again', async (t) => {
  const { server, owner } = await openServerWithApps(t)
  const [revoked, disabled] = await Promise.all(Array.from({ length: 2 }, () => registerClient(server)))
  assert.ok(revoked && disabled)
  const tokens = await connect(owner, server, revoked, {})
  await revoke(server, revoked, tokens.refresh_token ?? '')
  await connect(owner, server, disabled, {})
  await server.context.store.disableClient({ id: disabled.client_id as never, now: server.clock.now() })
  const short = await registerClient(server, { grant_types: ['authorization_code'] })
  await connect(owner, server, short, {})
  execute(server, 'delete from consents')
  assert.equal(removalsOf(await owner.open('/account/apps')).length, 1)
  server.clock.advance(16 * 60_000)
  assert.match((await owner.open('/account/apps')).body, pageSays('account.noApps'))
})

interface ServerWithApps {
  readonly server: TestServer
  readonly owner: Owner
  /** The API that asks about tokens. */
  readonly introspecting: RegisteredClient
}

async function openServerWithApps(t: Parameters<typeof openTestServer>[0]): Promise<ServerWithApps> {
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
