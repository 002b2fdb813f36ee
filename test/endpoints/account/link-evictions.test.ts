import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../src/admin/user/link.ts'
import { provisionSubject } from '../../../src/admin/user/subject.ts'
import { EMAIL, locationOf, obtainTokens, PASSWORD, PlainBrowser, refresh } from '../../../tools/flow.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { givePasskey, madeFields, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { openTestServer } from '../../support/server.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { addProvider, signInAt } from '../../support/provider/providers.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { assertInvalidGrant } from '../../support/token-answers.ts'
import {
  isSignedIn,
  openServerWithProvider,
  type ServerWithProvider,
} from '../sign-in/provider/server-with-provider.ts'
import { formsOf, openOwner, removalsOf, type Owner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const OWN = { sub: 'ada-at-second', email: 'ada@private.test', email_verified: true }
const THIEF = { sub: 'mallory', email: 'mallory@evil.test', email_verified: true }
const NEW = 'another long horse'
const STOLEN = 'the horse of a thief'

/** Ada has a password and an account at a second provider. A thief has the password, a session, tokens, and has added an identity. */
async function openTheft(t: Parameters<typeof openServerWithProvider>[0]) {
  const setup = await openServerWithProvider(t)
  const { server, host, client } = setup
  await createAda(server)
  await addProvider(server, host, {}, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  await add(setup, openOwner(server), 'second', OWN)
  const thief = openOwner(server)
  await add(setup, thief, 'idp', THIEF)
  const tokens = await obtainTokens(server, client)
  server.clock.advance(1000)
  const { address } = await createLink(server.context, EMAIL)
  return { setup, thief, tokens, address }
}

async function add({ host }: ServerWithProvider, owner: Owner, provider: string, claims: object): Promise<void> {
  const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider', {}, provider)
  await owner.browser.get(host.approve(leadsTo(left), { ...claims }))
}

/** Each way in which Ada accepts the link, and whether she keeps the account at the second provider. */
const ACCEPTANCES = ['a password', 'another account', 'the account that was kept', 'a passkey'].flatMap((way) =>
  [true, false].map((isKept) => ({ way, isKept })),
)

for (const { way, isKept } of ACCEPTANCES) {
  test(`LNK-01: a reset with ${way}, ${isKept ? 'where one provider is kept' : 'where nothing is kept'}, ends everything that a thief has`, async (t) => {
    const { setup, thief, tokens, address } = await openTheft(t)
    const { server, host, rows, client } = setup
    const browser = new PlainBrowser(server)
    const listed = await assertStoreUnchanged(server, () => browser.get(address))
    assert.match(listed.body, /Which of these are yours\?[^]*mallory@evil\.test/)
    assert.doesNotMatch(listed.body, /<input[^>]* checked/)
    const own = rows('identities').find((row) => row['provider_id'] === 'second')
    const page = await assertStoreUnchanged(server, () =>
      browser.submit(listed, isKept ? { keep: String(own?.['identity_key']) } : {}),
    )
    assert.match(page.body, pageSays('account.resetConsequence'))
    await accept(setup, browser, page, way)

    assert.equal((await thief.browser.get('/account')).statusCode, 303)
    assertInvalidGrant(await refresh(server, client, tokens.refresh_token ?? ''))
    await assert.rejects(openOwner(server).open('/account'), pageSays('wrongCredentials'))
    assert.ok(!isSignedIn(await setup.signIn(THIEF)))
    const second = await signInAt({ ...(await setup.arrive()), host }, OWN, {}, 'second')
    assert.equal(isSignedIn(second), isKept || way === 'the account that was kept')
    assert.equal(rows('users').length, 1)
    assert.equal(rows('users')[0]?.['password_hash'] === null, way !== 'a password')
    assert.equal((await browser.get(address)).statusCode, 400)
  })
}

async function accept(
  { host }: ServerWithProvider,
  browser: PlainBrowser,
  page: Parameters<typeof formsOf>[0],
  way: string,
): Promise<void> {
  if (way === 'a passkey') {
    const added = await browser.post('/account/link', madeFields(page, openAuthenticator()))
    assert.match(added.body, pageSays('account.linkUsedByPasskey'))
    return
  }
  const form = formsOf(page).find(({ names, hidden }) =>
    way === 'a password' ? names.has('password') : hidden['provider'] === 'second',
  )
  assert.ok(form)
  if (way === 'a password') {
    const set = await browser.post(form.action, { ...form.hidden, password: NEW, repeated: NEW })
    assert.match(set.body, pageSays('account.linkUsedHeading'))
    return
  }
  const claims = way === 'another account' ? { sub: 'ada-again' } : OWN
  const answer = await browser.get(host.approve(leadsTo(await browser.post(form.action, form.hidden)), claims))
  assert.equal(locationOf(answer), 'http://localhost:3000/account')
}

/** What a provider says of an address, and whether that proves it. */
const SAID: readonly (readonly [claims: object, isProved: boolean])[] = [
  [{ email_verified: true }, true],
  [{ email_verified: false }, false],
  [{ email_verified: undefined }, false],
  [{ email_verified: 'true' }, false],
]

for (const [said, isProved] of SAID) {
  test(`UP-36: an address with ${JSON.stringify(said)} ${isProved ? 'is shown as that of' : 'appears nowhere beside'} an account at a provider`, async (t) => {
    const setup = await openServerWithProvider(t)
    const { server } = setup
    await createAda(server)
    const thief = openOwner(server)
    await add(setup, thief, 'idp', { sub: 'mallory', email: 'owner@private.test', ...said })
    const [removal] = removalsOf(await thief.open('/account/security'))
    const { store } = server.context
    const id = (await store.findUserByEmail(EMAIL))?.id
    const places: Readonly<Record<string, string>> = {
      'Which of these are yours?': (
        await new PlainBrowser(server).get((await createLink(server.context, EMAIL)).address)
      ).body,
      'the sign-in methods': (await thief.open('/account/security')).body,
      'the question before it is removed': (await thief.open(`${removal?.pathname}${removal?.search}`)).body,
      'user show': JSON.stringify(await perform(server.context, 'user.show', { user_id: id })),
      'the store': JSON.stringify(setup.rows('identities')),
    }
    for (const [place, text] of Object.entries(places)) {
      assert.match(text, /Idp|IdP|idp|Acme|mallory/i, place)
      assert.equal(text.includes('owner@private.test'), isProved, `${place}: ${text}`)
    }
  })
}

for (const isKept of [true, false]) {
  test(`LNK-01, PK-01: a passkey that is added by a link leaves another one only if the person ${isKept ? 'kept it' : 'did not keep it'}`, async (t) => {
    const server = await openTestServer(t)
    await createAda(server)
    const { store } = server.context
    const ada = await store.findUserByEmail(EMAIL)
    assert.ok(ada)
    const earlier = await givePasskey(server, ada.id)
    server.clock.advance(1000)
    const { address } = await createLink(server.context, EMAIL)
    const browser = new PlainBrowser(server)
    const listed = await browser.get(address)
    assert.match(listed.body, /Which of these are yours\?[^]*Passkey · /)
    const page = await browser.submit(listed, isKept ? { keep: earlier.passkey.id } : {})
    const own = openAuthenticator()
    const made = madeFields(page, own)
    const elsewhere = new PlainBrowser(server)
    await elsewhere.submit(await elsewhere.get(address), {})
    const wrong = [
      await elsewhere.post('/account/link', made),
      await browser.post('/account/link', { ...made, ...madeFields(page, own, { origin: 'https://evil.test' }) }),
      await browser.post('/account/link', madeFields(page, own, { flags: 0x41 })),
    ]
    for (const { statusCode } of wrong) assert.equal(statusCode, 400)
    assert.deepEqual(await store.listPasskeys(ada.id), [earlier.passkey])
    const added = await browser.post('/account/link', made)
    assert.match(added.body, pageSays('account.linkUsedByPasskey'))
    assert.equal((await browser.post('/account/link', made)).statusCode, 400, 'the link was used up')
    const ids = (await store.listPasskeys(ada.id)).map(({ credentialId }) => credentialId)
    assert.deepEqual(ids.toSorted(), [own.credentialId, isKept ? earlier.passkey.credentialId : []].flat().toSorted())
    for (const [authenticator, works] of [
      [own, true],
      [earlier.authenticator, isKept],
    ] as const) {
      const arriving = new PlainBrowser(server)
      const start = await arriving.get(locationOf(await arriving.get('/account')))
      const answer = await arriving.post(
        '/v2/oauth/sign-in/passkey',
        signedFields(start, { userId: ada.id, authenticator }),
      )
      assert.equal(answer.statusCode, works ? 303 : 401)
    }
  })
}

for (const isKept of [true, false]) {
  test(`LNK-05: a link ${isKept ? 'keeps' : 'ends'} the identity at the operator’s application, which its user ${isKept ? 'confirmed' : 'did not confirm'}`, async (t) => {
    const setup = await openServerWithProvider(t)
    const { server, rows } = setup
    // A stranger gave the application the address of Ada, and was never asked to prove it.
    const stranger = { subject: 'mallory', email: EMAIL, isEmailVerified: false, name: undefined, groups: undefined }
    await provisionSubject(server.context, stranger)
    const browser = new PlainBrowser(server)
    const listed = await browser.get((await createLink(server.context, EMAIL)).address)
    assert.match(listed.body, /<span class="line"[^>]*>The operator’s application</)
    const [identity] = rows('identities')
    await accept(
      setup,
      browser,
      await browser.submit(listed, isKept ? { keep: String(identity?.['identity_key']) } : {}),
      'a password',
    )
    await provisionSubject(server.context, stranger)
    assert.equal(rows('users').length, isKept ? 1 : 2)
  })
}

/** What a thief can change in a session, and each way to accept the link after it. */
const CHANGES = ['a new password', 'another account at a provider', 'the removal of an account at a provider'] as const
const LATER = CHANGES.flatMap((change) => ['a password', 'another account'].map((way) => ({ change, way })))

for (const { change, way } of LATER) {
  test(`LNK-04: ${change} by a thief does not end the link, and a reset with ${way} ends what the thief changed`, async (t) => {
    const { setup, thief, address } = await openTheft(t)
    const { server, host, rows } = setup
    await addProvider(server, host, {}, { id: 'third', name: 'Third' })
    server.clock.advance(1001)
    if (change === 'a new password') {
      await thief.submit(await thief.open('/account/security/password'), 'password', {
        password: STOLEN,
        repeated: STOLEN,
      })
    } else if (change === 'another account at a provider') {
      await add(setup, thief, 'third', { ...THIEF, sub: 'mallory-again' })
    } else {
      const own = rows('identities').find((row) => row['provider_id'] === 'second')
      await thief.remove(await thief.open('/account/security'), 'identity', String(own?.['identity_key']))
    }
    const browser = new PlainBrowser(server)
    const page = await browser.submit(await browser.get(address), {})
    await accept(setup, browser, page, way)
    assert.equal((await thief.browser.get('/account')).statusCode, 303)
    for (const password of [PASSWORD, STOLEN])
      await assert.rejects(openOwner(server, EMAIL, password).open('/account'), pageSays('wrongCredentials'))
    assert.deepEqual(
      rows('identities').map((row) => row['subject']),
      way === 'a password' ? [] : ['ada-again'],
    )
    assert.equal((await browser.get(address)).statusCode, 400)
  })
}

test('LNK-01: the form of a link keeps only identities that it names and that the account has', async (t) => {
  const { setup, address } = await openTheft(t)
  const { server, rows } = setup
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  await add(setup, openOwner(server, 'bob@acme.test'), 'idp', { sub: 'bob' })
  const key = String(rows('identities').find((row) => row['subject'] === 'bob')?.['identity_key'])
  const token = new URL(address).searchParams.get('token') ?? ''
  const browser = new PlainBrowser(server)
  const page = await browser.post('/account/link', { token, keep: key })
  assert.ok(!page.body.includes(key))
  assert.equal(
    (await browser.post('/account/link', { token, keep: key, password: NEW, repeated: NEW })).statusCode,
    200,
  )
  assert.deepEqual(
    rows('identities').map((row) => row['subject']),
    ['bob'],
  )
})

test('LNK-01: a person who is signed in accepts a link in the same browser, and is then signed in by the provider only', async (t) => {
  const { setup, thief, address } = await openTheft(t)
  const page = await thief.browser.submit(await thief.browser.get(address), {})
  await accept(setup, thief.browser, page, 'another account')
  assert.equal((await thief.browser.get('/account')).statusCode, 200)
  const [session] = setup.rows('sessions').slice(-1)
  assert.deepEqual([session?.['methods'], session?.['provider_id']], ['fed', 'second'])
  assert.deepEqual(
    setup.rows('identities').map((row) => row['subject']),
    ['ada-again'],
  )
})

test('LNK-02: removing a provider signs out the browsers that signed in there, and neither this one nor those with a password', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  const [owner, other] = [openOwner(server), openOwner(server)]
  await add(setup, owner, 'idp', THIEF)
  await other.open('/account')
  const away = await setup.arrive()
  assert.ok(isSignedIn(await signInAt({ ...away, host }, THIEF)))
  const here = await setup.arrive()
  const auth_time = Math.floor(server.clock.now() / 1000)
  assert.ok(isSignedIn(await signInAt({ ...here, host }, { ...THIEF, auth_time })))
  const [question] = removalsOf(await here.browser.get('/account/security'))
  const [form] = formsOf(await here.browser.get(`${question?.pathname}${question?.search}`))
  assert.equal((await here.browser.post(form?.action ?? '', form?.hidden ?? {})).statusCode, 303)
  const statuses = [away.browser, here.browser, owner.browser, other.browser].map(
    async (browser) => (await browser.get('/account')).statusCode,
  )
  assert.deepEqual(await Promise.all(statuses), [303, 200, 200, 200])
})
