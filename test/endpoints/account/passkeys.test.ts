import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { UserId } from '../../../src/protocol/ids.ts'
import { EMAIL, locationOf, obtainTokens, PASSWORD, registerClient } from '../../../tools/flow.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { performOnUser } from '../../support/tasks.ts'
import { openOwner, signInByPasskey } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const [ADD, REMOVE] = ['/account/security/add-passkey', '/account/security/remove-passkey']
const APP = '/account/security/app'
const SECURITY = 'http://localhost:3000/account/security'

/** What is wrong with the request, and the answer to it. */
const CASES = {
  'a session older than five minutes': 'confirm',
  'a session that the user ended in another browser': 'sign in',
  'a session from before all tokens were revoked': 'sign in',
  'an access token in place of the session': 'sign in',
  'another site': 'refused',
  'the form of another session': 'refused',
  'the user was disabled': 'sign in',
} as const

test('PK-02: only the owner, who has signed in here within five minutes, adds and removes a passkey', async (t) => {
  for (const [what, answer] of Object.entries(CASES)) {
    const { server, clock, passkey, owner } = await open(t)
    const { browser } = owner
    const add = await owner.open(ADD)
    const remove = await owner.open(`${REMOVE}?passkey=${passkey.id}`)
    assert.match(remove.body, /<title>Remove a passkey/)
    const csrf = /name="csrf" value="([^"]+)"/.exec(remove.body)?.[1] ?? ''
    const fields = { [ADD]: madeFields(add, openAuthenticator()), [REMOVE]: { csrf, passkey: passkey.id } }
    let headers: Readonly<Record<string, string>> = {}
    const elsewhere = openOwner(server)
    clock.advance(1)
    switch (what as keyof typeof CASES) {
      case 'a session older than five minutes':
        clock.advance(5 * 60_000)
        break
      case 'a session that the user ended in another browser':
        await elsewhere.submit(await elsewhere.open('/account/sessions'), 'others')
        break
      case 'a session from before all tokens were revoked':
        await performOnUser(server.context, 'user.revoke-tokens', EMAIL)
        break
      case 'an access token in place of the session':
        headers = { authorization: `Bearer ${(await obtainTokens(server, await registerClient(server))).access_token}` }
        browser.cookies.clear()
        break
      case 'another site':
        headers = { 'sec-fetch-site': 'cross-site' }
        break
      case 'the form of another session':
        for (const [name, value] of (await elsewhere.open('/account'), elsewhere.browser.cookies))
          browser.cookies.set(name, value)
        break
      case 'the user was disabled':
        await performOnUser(server.context, 'user.disable', EMAIL)
        clock.advance(1001)
        break
    }
    for (const [path, sent] of Object.entries(fields)) {
      const refused = await assertStoreUnchanged(server, () => browser.post(path, sent, headers), `${what}: ${path}`)
      if (answer === 'confirm') assert.match(refused.body, pageSays('account.confirm'))
      else if (answer === 'sign in') assert.match(locationOf(refused), /\/v2\/oauth\/sign-in\?page=/, what)
      else assert.equal(refused.statusCode, 403, what)
      if (answer !== 'refused')
        assert.match(locationOf(await browser.get(path, headers)), /\/v2\/oauth\/sign-in\?page=/, what)
    }
  }
  const { owner, server, passkey, userId } = await open(t)
  await owner.submit(await owner.open(`${REMOVE}?passkey=${passkey.id}`), 'passkey')
  assert.deepEqual(await server.context.store.listPasskeys(userId), [])
})

test('ACR-06: who knows the password of an account with a passkey adds and removes no factor', async (t) => {
  const { server, passkey } = await open(t)
  const thief = openOwner(server)
  const csrf = /name="csrf" value="([^"]+)"/.exec((await thief.open('/account')).body)?.[1] ?? ''
  assert.notEqual(csrf, '')
  for (const path of [ADD, `${REMOVE}?passkey=${passkey.id}`, APP]) {
    const asked = await thief.open(path)
    assert.deepEqual([asked.statusCode, asked.body.includes('Your account has a passkey')], [200, true], path)
  }
  for (const [path, fields] of [
    [ADD, {}],
    [REMOVE, { passkey: passkey.id }],
    [APP, { code: '123456' }],
  ] as const)
    await assertStoreUnchanged(server, () => thief.browser.post(path, { csrf, ...fields }), path)
})

test('PK-01: the forms of an account remove no passkey of another user, as if it were unknown', async (t) => {
  const { server, passkey } = await open(t)
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  const { owner: bob, ...own } = await addPasskey(server, 'bob@acme.test')
  const question = await bob.open(`${REMOVE}?passkey=${own.passkey.id}`)
  const csrf = /name="csrf" value="([^"]+)"/.exec(question.body)?.[1] ?? ''
  for (const wrong of [passkey.id, 'A'.repeat(passkey.id.length), '', '{}', `${own.passkey.id} ${passkey.id}`]) {
    const answer = await assertStoreUnchanged(server, () => bob.browser.post(REMOVE, { csrf, passkey: wrong }))
    assert.equal(locationOf(answer), SECURITY, wrong)
    const asked = await bob.browser.get(`${REMOVE}?passkey=${encodeURIComponent(wrong)}`)
    assert.equal(locationOf(asked), SECURITY, wrong)
  }
})

/** Ada, who is signed in. */
async function open(t: TestContext) {
  const server = await openTestServer(t)
  await createAda(server)
  return { server, clock: server.clock, ...(await addPasskey(server, EMAIL)) }
}

/** The user signs in by password, adds a passkey, and signs in with it. */
async function addPasskey(server: TestServer, email: string) {
  const owner = openOwner(server, email)
  const authenticator = openAuthenticator()
  const added = await owner.browser.post(ADD, madeFields(await owner.open(ADD), authenticator))
  assert.equal(locationOf(added), `${SECURITY}?done=passkey-added`)
  server.clock.advance(1)
  const userId = (await server.context.store.findUserByEmail(email))?.id as UserId
  const [passkey] = await server.context.store.listPasskeys(userId)
  assert.ok(passkey)
  await signInByPasskey(owner.browser, userId, authenticator)
  return { owner, userId, passkey }
}
