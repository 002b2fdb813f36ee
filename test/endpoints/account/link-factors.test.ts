import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { LinkOrigin } from '../../../src/ports/records/user.ts'
import { after } from '../../../src/base/brand.ts'
import { linkAddress, mintLink } from '../../../src/protocol/sign-in/link.ts'
import { locationOf, PlainBrowser } from '../../../tools/flow.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields } from '../../../tools/sign-in/passkeys.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { aPerson, type Factor, type Person } from '../../support/sign-in/persons.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { formsOf } from './owner.ts'
import { pageSays, pageTitled, sentence } from '../../texts/page-texts.ts'

/** What a link does to the second factors of an account, at its page and by forms that the page does not have. */

const NEW = 'another long horse'
const BOTH = { password: NEW, repeated: NEW }
const LINK = '/account/link'

const host = await openProviderHost(WHOLE_FILE)
const SERVERS = {
  optional: await openTestServer(WHOLE_FILE),
  required: await openTestServer(WHOLE_FILE, { env: { GRANTOR_SECOND_FACTOR: 'required' } }),
}
for (const server of Object.values(SERVERS)) {
  await addProvider(server, host, { multiFactor: true }, { id: 'strong', name: 'Strong ID' })
  server.clock.advance(1001)
}

/** Opens a link of the user, as Forgot mails it, or the operator hands it over. */
async function openLink({ clock, context }: TestServer, { id: userId }: Person, origin: LinkOrigin) {
  const { token, hash } = mintLink(context.secrets, userId, randomBytes)
  const createdAt = clock.now()
  const record = {
    userId,
    origin,
    hash,
    purpose: 'reset',
    isMailed: origin === 'user',
    madeBy: undefined,
    madeWith: undefined,
    clientId: undefined,
    authorizationId: undefined,
    createdAt,
    expiresAt: after(createdAt, 60_000),
  } as const
  assert.equal(await context.store.createLink({ ...record, mails: [] }), 'created')
  return { address: linkAddress(context.issuer, token), token }
}

/** By rule and factors, whether a link of the user leaves the second factors. That of an operator always replaces passkeys. */
const CASES: readonly (readonly [rule: keyof typeof SERVERS, factors: readonly Factor[], keeps: boolean])[] = [
  ['optional', ['passkey'], false],
  ['optional', ['strong'], false],
  ['optional', ['app'], true],
  ['optional', ['app', 'passkey'], true],
  ['required', ['passkey'], true],
  ['required', ['passkey', 'strong'], true],
  ['required', ['strong'], true],
  ['required', ['app', 'passkey'], true],
]

for (const [rule, factors, keeps] of CASES) {
  const server = SERVERS[rule]
  const { store } = server.context
  test(`ACC-17: ${rule}, ${factors.join(' and ')}: a mailed reset ${keeps ? 'leaves the second factor, which the next sign-in asks for' : 'replaces passkeys'}`, async () => {
    const person = await aPerson(server, host, factors)
    const { token, address } = await openLink(server, person, 'user')
    const browser = new PlainBrowser(server)
    const first = await browser.get(address)
    const isListed = first.body.includes(sentence('account.linkMethodsHeading'))
    assert.equal(isListed, !keeps || factors.join() === 'passkey,strong', first.body)
    const page = isListed ? await browser.submit(first, {}) : first
    assert.equal(page.body.includes('data-passkey="'), !keeps)
    assert.equal(page.body.includes('Continue with'), !keeps)
    if (keeps) {
      const other = await openForm(server, browser)
      await assertStoreUnchanged(server, async () => {
        assert.ok((await browser.post(LINK, { token, provider: 'strong' })).statusCode >= 400)
        assert.ok((await browser.post(LINK, { ...madeFields(other, openAuthenticator()), token })).statusCode >= 400)
      })
    }
    // A form that the page does not have: it keeps nothing.
    const used = await new PlainBrowser(server).post(LINK, { token, ...BOTH })
    assert.match(used.body, pageSays('account.linkUsedHeading'))
    assert.equal((await store.listPasskeys(person.id)).length, keeps && factors.includes('passkey') ? 1 : 0)
    assert.equal((await store.listIdentities(person.id)).length, keeps && factors.join() === 'strong' ? 1 : 0)
    assert.equal((await store.findSecondFactor(person.id)) !== undefined, factors.includes('app'))
    const again = new PlainBrowser(server)
    const signIn = await again.get(locationOf(await again.get('/account')))
    const answer = await again.submit(signIn, { email: person.email, password: NEW })
    if (!keeps) assert.equal(answer.statusCode, 303)
    else assert.match(answer.body, pageTitled('secondStep'))
  })
}

/** The form of a passkey, of another user's link. */
async function openForm(server: TestServer, browser: PlainBrowser) {
  const { address } = await openLink(server, await aPerson(server, host, []), 'operator')
  return browser.get(address)
}

test('ACC-17: a link of the operator replaces passkeys where two factors are required', async () => {
  const server = SERVERS.required
  const person = await aPerson(server, host, ['passkey'])
  const { address } = await openLink(server, person, 'operator')
  const browser = new PlainBrowser(server)
  const page = await browser.submit(await browser.get(address), {})
  const added = await browser.post(LINK, madeFields(page, openAuthenticator()))
  assert.match(added.body, pageSays('account.linkUsedByPasskey'))
  assert.equal((await server.context.store.listPasskeys(person.id)).length, 1)
})

test('ACC-17: an app that was set up since the person left for a provider with multi_factor refuses its identity', async () => {
  for (const origin of ['user', 'operator'] as const) {
    const server = SERVERS.optional
    const person = await aPerson(server, host, [])
    const { address } = await openLink(server, person, origin)
    const browser = new PlainBrowser(server)
    const form = formsOf(await browser.get(address)).find(({ hidden }) => hidden['provider'] === 'strong')
    const left = leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {}))
    await addApp(server, person.email)
    const back = await browser.get(host.approve(left, { sub: randomUUID() }))
    assert.ok(back.statusCode >= 400)
    assert.deepEqual(await server.context.store.listIdentities(person.id), [])
    assert.equal((await server.context.store.listLinks(person.id)).length, 1, 'the link is still open')
  }
})
