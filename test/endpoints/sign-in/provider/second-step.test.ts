import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hiddenFields, locationOf, PASSWORD, PlainBrowser } from '../../../../tools/flow.ts'
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
