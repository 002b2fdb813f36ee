import assert from 'node:assert/strict'
import type { UserId } from '../../../src/protocol/ids.ts'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createLink } from '../../../src/admin/user/link.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { APPLICATION_URL, leave, openApplication } from '../../support/application.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { givePasskey, madeFields, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { assertError } from '../../support/error-answer.ts'
import { openAssertingServer, reasonOf, tokensOf } from '../../support/provider/asserting.ts'
import { isActive } from '../../support/token-questions.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { isSignedIn, openServerWithProvider } from '../sign-in/provider/server-with-provider.ts'
import { formsOf, openOwner, removalsOf, signInByPasskey } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const ANYBODY = { signUp: 'anybody' } as const

test('a user adds and removes providers, but never the last sign-in method', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { server, host, rows } = setup
  await addProvider(server, host, {}, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host }, freshClaims(server))
  const only = await browser.get('/account/security')
  assert.match(only.body, /Acme ID[^]*ada@acme\.test[^]*It stays, because you could not sign in without it/)
  assert.deepEqual(removalsOf(only), [])
  const addable = await browser.get('/account/security/add-provider')
  const hidden = formsOf(addable).find((form) => form.hidden['provider'] === 'second')
  assert.ok(hidden)
  const [identity] = rows('identities')
  const key = String(identity?.['identity_key'])
  const csrf = hidden.hidden['csrf'] ?? ''
  const kept = await assertStoreUnchanged(server, () =>
    browser.post('/account/security/remove-provider', { csrf, identity: key }),
  )
  assert.equal(locationOf(kept), 'http://localhost:3000/account/security')
  const left = await browser.post(hidden.action, hidden.hidden)
  await browser.get(host.approve(leadsTo(left), { sub: 'ada-at-second' }))
  assert.equal(rows('identities').length, 2)
  const removed = await browser.post('/account/security/remove-provider', { csrf, identity: key })
  assert.match((await browser.get(removed.headers.location ?? '')).body, pageSays('account.notices.method-removed'))
  assert.deepEqual(
    rows('identities').map((row) => row['provider_id']),
    ['second'],
  )
  // Who comes back with the removed one is a stranger.
  assert.ok(isSignedIn(await setup.signIn({ sub: 'ada-at-idp' })))
  assert.equal(rows('users').length, 2)
})

test('a user with a password removes the only provider, unless passwords are off', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  const owner = openOwner(server)
  const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider')
  await owner.browser.get(host.approve(leadsTo(left), { sub: 'ada' }))
  await server.close()
  const { folder, clock } = server
  for (const passwords of ['off', 'on']) {
    const here = await openTestServer(t, { folder, clock, env: { GRANTOR_PASSWORDS: passwords } })
    const browser = new PlainBrowser(here)
    for (const [name, value] of owner.browser.cookies) browser.cookies.set(name, value)
    const [question] = removalsOf(await browser.get('/account/security'))
    if (question !== undefined) {
      const page = await browser.get(question.pathname + question.search)
      assert.match(page.body, /Remove <bdi>Acme ID<\/bdi>\?[^]*You can then no longer sign in with this account/)
      await browser.submit(page, {})
    }
    assert.equal(setup.rows('identities').length, passwords === 'off' ? 1 : 0)
    await here.close()
  }
})

test('PK-02: a user removes the password where a passkey or a provider remains, after a question and a recent sign-in', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  const { id } = await createAccount(server, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  const remove = '/account/security/remove-password'
  const passwordOf = async () => (await server.context.store.findUser(id))?.passwordHash
  const before = await passwordOf()
  assert.ok(before)
  const owner = openOwner(server)
  assert.doesNotMatch((await owner.open('/account/security')).body, /Remove password/)
  const csrf = formsOf(await owner.open('/account'))[0]?.hidden['csrf'] ?? ''
  const last = await assertStoreUnchanged(server, () => owner.browser.post(remove, { csrf }))
  assert.equal(locationOf(last), 'http://localhost:3000/account/security')
  assert.equal(locationOf(await owner.browser.get(remove)), 'http://localhost:3000/account/security')

  const other = openOwner(server)
  await other.open('/account')
  const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider')
  await owner.browser.get(host.approve(leadsTo(left), { sub: 'ada' }))
  assert.match((await owner.open('/account/security')).body, /href="[^"]*\/remove-password"/)
  server.clock.advance(5 * 60_000 + 1)
  const late = await assertStoreUnchanged(server, () => owner.browser.post(remove, { csrf }))
  assert.match(late.body, pageSays('account.confirm'))
  const again = openOwner(server)
  const question = await again.open(remove)
  assert.match(question.body, pageSays('account.removePasswordConsequence'))
  const removed = await again.browser.submit(question, {})
  assert.match((await again.browser.get(locationOf(removed))).body, /Your password is removed[^]*You have no password/)
  assert.equal(await passwordOf(), undefined)
  assert.equal((await other.browser.get('/account')).statusCode, 303)
  await assert.rejects(openOwner(server).open('/account'), pageSays('wrongCredentials'))
  const events = selectAll(server, 'select * from audit_links').map((row) => JSON.stringify(row))
  assert.equal(events.filter((text) => text.includes('user.password-removed')).length, 1)

  // A passkey counts where the address needs no provider.
  const { authenticator } = await givePasskey(server, id)
  await server.context.store.setPassword({ id, passwordHash: before, now: server.clock.now(), mails: [] })
  server.clock.advance(1)
  const keeper = openOwner(server)
  await keeper.open('/account')
  await signInByPasskey(keeper.browser, id, authenticator)
  await keeper.browser.submit(await keeper.open(remove), {})
  assert.equal(await passwordOf(), undefined)
})

test('PK-11, WebAuthn L3 §5.1.10: a browser forgets only the passkey that its user removes, once; none that was refused, is unknown or is shown', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const owner = openOwner(server)
  const page = await owner.open('/account/security/add-passkey')
  const { action } = passkeyFormOf(page)
  const authenticator = openAuthenticator()
  const { credentialId } = authenticator
  const refused = await owner.browser.post(action, madeFields(page, authenticator, { origin: 'https://other.test' }))
  assert.equal(refused.statusCode, 400)
  // Certificates, which some authenticators send unasked.
  const attStmt = new Map([['x5c', [randomBytes(6_000)]]])
  const good = madeFields(refused, authenticator, { fmt: 'packed', attStmt })
  const added = await owner.browser.get(locationOf(await owner.browser.post(action, good)))
  assert.match(added.body, /Your passkey is added[^]*on this device/)
  const [stored] = selectAll(server, 'select user_id, passkey_id from passkeys')
  const userId = stored?.['user_id'] as UserId
  await signInByPasskey(owner.browser, userId, authenticator)
  const repeated = await owner.browser.post(action, good)
  assert.equal(repeated.statusCode, 400)
  const endless = madeFields(page, openAuthenticator(), { attStmt: new Map([['x5c', [randomBytes(9_000)]]]) })
  assert.equal((await owner.browser.post(action, endless)).statusCode, 400)
  assert.equal(selectAll(server, 'select * from passkeys').length, 1)

  const shown = await owner.open('/account/security')
  const question = await owner.open(`/account/security/remove-passkey?passkey=${String(stored?.['passkey_id'])}`)
  const removed = await owner.browser.submit(question, {})
  assert.match(removed.body, pageSays('account.notices.passkey-removed'))
  const again = await owner.browser.submit(question, {})
  assert.equal(locationOf(again), 'http://localhost:3000/account/security')
  const arriving = new PlainBrowser(server)
  const signIn = await arriving.get(locationOf(await arriving.get('/account')))
  const fields = signedFields(signIn, { userId, authenticator })
  const unknown = await arriving.post(passkeyFormOf(signIn).action, fields)
  assert.match(unknown.body, pageSays('passkeyUnknown'))
  for (const { body } of [
    page,
    refused,
    added,
    repeated,
    shown,
    question,
    unknown,
    await owner.open('/account/security'),
  ])
    assert.doesNotMatch(body, /data-forgotten="/)
  const forgotten = /data-forgotten="([^"]*)"/.exec(removed.body)?.[1]?.replaceAll('&quot;', '"')
  assert.deepEqual(JSON.parse(forgotten ?? ''), { rpId: 'localhost', credentialId })
})

test('a user neither sees nor removes the identity at the operator’s application, and adds none at a provider', async (t) => {
  const { server, rows } = await openServerWithProvider(t, {}, { env: { GRANTOR_DELEGATE_URL: APPLICATION_URL } })
  const application = await openApplication(server)
  const owner = openOwner(server)
  const interaction = await leave(owner.browser, '/account/security')
  const now = new Date(server.clock.now()).toISOString()
  await owner.browser.get(await application.signIn(interaction, { decision: 'ask', authenticated_at: now }))
  const page = await owner.open('/account/security')
  assert.match(page.body, pageSays('account.noMethods'))
  assert.doesNotMatch(page.body, /delegate|Acme ID/)
  const identity = rows('identities').find((row) => row['provider_id'] === 'delegate')
  assert.deepEqual(formsOf(await owner.open('/account')), [], 'the name is that of the application')
  const csrf = formsOf(await owner.open('/account/data'))[0]?.hidden['csrf'] ?? ''
  const fields = { csrf, identity: String(identity?.['identity_key']) }
  const answer = await assertStoreUnchanged(server, () =>
    owner.browser.post('/account/security/remove-provider', fields),
  )
  assert.equal(locationOf(answer), 'http://localhost:3000/account/security')
  const renamed = await assertStoreUnchanged(server, () => owner.browser.post('/account', { csrf, name: 'Changed' }))
  assert.equal(renamed.statusCode, 400)
})

test('ACC-06: another user’s identity, an unknown and a malformed one are not removed, with the same answer', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { server, rows } = setup
  await setup.signIn()
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  const bob = openOwner(server, 'bob@acme.test')
  const csrf = formsOf(await bob.open('/account'))[0]?.hidden['csrf'] ?? ''
  const [identity] = rows('identities')
  for (const key of [String(identity?.['identity_key']), 'A'.repeat(43), '{}']) {
    const answer = await assertStoreUnchanged(server, () =>
      bob.browser.post('/account/security/remove-provider', { csrf, identity: key }),
    )
    assert.equal(locationOf(answer), 'http://localhost:3000/account/security')
    const asked = await bob.browser.get(`/account/security/remove-provider?identity=${encodeURIComponent(key)}`)
    assert.equal(locationOf(asked), 'http://localhost:3000/account/security')
  }
})

test('a sign-in method is changed only by a user who has signed in a moment ago', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host: setup.host })
  const csrf = formsOf(await browser.get('/account'))[0]?.hidden['csrf'] ?? ''
  setup.server.clock.advance(5 * 60_000 + 1)
  const identity = String(setup.rows('identities')[0]?.['identity_key'])
  for (const [step, fields] of [
    ['add-provider', { provider: 'idp' }],
    ['remove-provider', { identity }],
    ['password', { password: 'another long horse', repeated: 'another long horse' }],
  ] as const) {
    assert.match(locationOf(await browser.get(`/account/security/${step}`)), new RegExp(`/sign-in\\?page=${step}$`))
    const answer = await assertStoreUnchanged(setup.server, () =>
      browser.post(`/account/security/${step}`, { csrf, ...fields }),
    )
    assert.match(answer.body, pageSays('account.confirm'))
  }
  // The provider authenticates the user again.
  const confirm = await browser.get('/v2/oauth/sign-in?page=security')
  const form = formsOf(confirm).find(({ hidden }) => hidden['provider'] === 'idp')
  const address = new URL(leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {})))
  assert.equal(address.searchParams.get('prompt'), 'login')
})

test('a link lets its user choose between a password and the providers', async (t) => {
  const setup = await openServerWithProvider(t)
  await createAccount(setup.server, { email: EMAIL, password: undefined, name: undefined })
  const { address } = await createLink(setup.server.context, EMAIL)
  const browser = new PlainBrowser(setup.server)
  const page = await browser.get(address)
  assert.match(page.body, /Continue with [^]*Acme ID[^]*>or<[^]*type="password"/)
  const wrong = formsOf(page).find(({ hidden }) => hidden['provider'] === 'idp')
  const answer = await browser.post(wrong?.action ?? '', { ...wrong?.hidden, provider: 'unknown' })
  assert.equal(answer.statusCode, 400)
})

test('the exported data of a user has the accounts at providers', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host: setup.host }, freshClaims(setup.server))
  const form = formsOf(await browser.get('/account/data')).find(({ hidden }) => 'csrf' in hidden)
  const data = await browser.post(form?.action ?? '', form?.hidden ?? {})
  const [identity] = data.json<{ identities: readonly object[] }>().identities
  assert.partialDeepStrictEqual(identity, { provider_id: 'idp', subject: 'ada-at-idp', email: 'ada@acme.test' })
})

test('JAG-15: a user who removes a provider ends what apps got by its assertions', async (t) => {
  const opened = await openAssertingServer(t, { link: 'verified-email' })
  const { server, api, present } = opened
  await createAccount(server, { email: EMAIL, password: PASSWORD, name: 'Ada', isVerified: true })
  const owner = openOwner(server)
  await owner.open('/account/security')
  const token = tokensOf(await present()).access_token
  const removeProvider = async () => {
    const removed = await owner.remove(await owner.open('/account/security'), 'identity')
    assert.match(removed.body, pageSays('account.notices.method-removed'))
  }
  assert.equal(await isActive(server, api, token), true)
  await removeProvider()
  assert.equal(await isActive(server, api, token), false)
  const again = tokensOf(await present()).access_token
  assert.equal(await isActive(server, api, again), true)
  const { store } = server.context
  const { openGrant } = store
  Object.assign(store, {
    async openGrant(opening: Parameters<typeof openGrant>[0]) {
      await removeProvider()
      return openGrant(opening)
    },
  })
  assertError(await present(), 400, 'invalid_grant')
  assert.equal(reasonOf(server), 'subject_refused')
  assert.equal(await isActive(server, api, again), false)
})
