import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { hiddenFields, locationOf, PASSWORD, PlainBrowser } from '../../../../tools/flow.ts'
import { leadsTo } from '../../../../tools/provider-page.ts'
import { formsOf } from '../../account/owner.ts'
import { appOfPage, submitTo } from '../../../support/sign-in/apps.ts'
import { openProviderHost } from '../../../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../../../support/provider/providers.ts'
import { openTestServer } from '../../../support/server.ts'
import { aPerson } from '../../../support/sign-in/persons.ts'
import { assertStoreUnchanged } from '../../../support/store/dump.ts'

test('OTP-10: with two factors required, the password of a user of a provider with multi_factor leads there, and sets up no factor', async (t) => {
  const host = await openProviderHost(t)
  const server = await openTestServer(t, { env: { GRANTOR_SECOND_FACTOR: 'required' } })
  await addProvider(server, host, { multiFactor: true }, { id: 'strong', name: 'Strong ID' })
  server.clock.advance(1001)
  const { email, id: userId } = await aPerson(server, host, ['strong'])
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get('/account')))
  const page = await browser.submit(signIn, { email, password: PASSWORD })
  assert.match(page.body, /<h1>Confirm with a second step<\/h1>[^]*Continue with <bdi>Strong ID<\/bdi>/)
  assert.doesNotMatch(page.body, /class="key"|data-passkey="/)
  const hidden = hiddenFields(page)
  for (const path of ['app', 'new-passkey', 'app/continue'])
    await assertStoreUnchanged(server, () => browser.post(`/v2/oauth/sign-in/${path}`, { ...hidden, code: '123456' }))
  const auth_time = Math.floor(server.clock.now() / 1000)
  assert.equal((await signInAt({ browser, page, host }, { sub: email, auth_time }, {}, 'strong')).statusCode, 303)
  const [session] = await server.context.store.listSessions({ userId, before: undefined, limit: 1 })
  assert.deepEqual(session?.authentication.methods, ['fed', 'mfa'])
})

test('UP-34: with a proof of one’s own, no password of another account is tried, and no factor is set up in it', async (t) => {
  const { server, host, ada, bob, browser, asked } = await provenByAda(t)
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  for (const password of [PASSWORD, 'not the password']) {
    const act = () => browser.post(form?.action ?? '', { ...form?.hidden, email: bob.email, password })
    const answer = await assertStoreUnchanged(server, act)
    assert.ok(leadsTo(answer).startsWith(host.issuer), password)
  }
  assert.deepEqual(await server.context.store.listIdentities(ada.id), [])
})

test('UP-32: a proof is linked after the second step, which the sign-in sets up where two factors are required', async (t) => {
  const { server, ada, browser, asked } = await provenByAda(t)
  const { store } = server.context
  const page = await browser.submit(asked, { email: ada.email, password: PASSWORD })
  const codes = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
  assert.deepEqual(await store.listIdentities(ada.id), [], 'not before the session')
  assert.equal((await browser.submit(codes, {})).statusCode, 303)
  assert.equal((await store.listIdentities(ada.id)).length, 1)
  const [session] = await store.listSessions({ userId: ada.id, before: undefined, limit: 1 })
  assert.deepEqual(session?.authentication.methods, ['pwd', 'otp', 'mfa'])
})

/** Two users with a password, whose domain requires a provider since. One of them has signed in there, and is asked for the password. */
async function provenByAda(t: TestContext) {
  const host = await openProviderHost(t)
  const server = await openTestServer(t, { env: { GRANTOR_SECOND_FACTOR: 'required' } })
  const [ada, bob] = [await aPerson(server, host, []), await aPerson(server, host, [])]
  await addProvider(server, host, { domains: ['acme.test'], routing: 'required' })
  server.clock.advance(1001)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get('/account')))
  const asked = await signInAt({ browser, page, host }, { sub: 'ada', email: ada.email, email_verified: true })
  return { server, host, ada, bob, browser, asked }
}
