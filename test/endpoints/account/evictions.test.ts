import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import { authorizeUrl, PASSWORD, registerClient, signInAndAllow, type PlainBrowser } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openTestServer } from '../../support/server.ts'
import { appOfPage } from '../../support/sign-in/apps.ts'
import { aPasskey } from '../../support/sign-in/factor-records.ts'
import { signedInBy } from '../../support/sign-in/sessions.ts'
import { performOnUser } from '../../support/tasks.ts'
import { formsOf } from './owner.ts'

/** A thief of a session allowed an app of the own. After each operation that evicts, it gets no code without a question in the browser of the owner. */

const server = await openTestServer(WHOLE_FILE)
await addProvider(server, await openProviderHost(WHOLE_FILE))
const thief = await registerClient(server, { client_name: 'Thief' })
const SILENT = authorizeUrl(thief, { prompt: 'none' })
const NEW = 'another long horse'

interface Person {
  readonly id: string
  readonly email: string
  readonly browser: PlainBrowser
  readonly passkey: string
  readonly identity: string
}

/** A user with every way in, who is signed in. */
async function aPerson(): Promise<Person> {
  const { store } = server.context
  const email = `${randomUUID()}@acme.test`
  const user = await createAccount(server, { email, isVerified: true, password: PASSWORD, name: undefined })
  const { browser, session } = await signedInBy(server, user, ['pop', 'mfa'])
  const reason = { kind: 'session', session: coversAll(session) } as const
  const passkey = aPasskey({ userId: user.id })
  assert.equal(await store.addPasskey({ passkey, reason, mails: [] }), 'added')
  const identity = anIdentity({ userId: user.id })
  assert.equal(await store.linkIdentity({ identity, reason, now: server.clock.now(), mails: [] }), 'linked')
  return { id: user.id, email, browser, passkey: passkey.id, identity: identity.key }
}

type Fields = Readonly<Record<string, string>>

/** What the user does at the account pages: the page, and the fields of its form. */
const BY_USER: Readonly<
  Record<string, readonly [address: (person: Person) => string, fields: (page: LightMyRequestResponse) => Fields]>
> = {
  'a new password': [() => 'password', () => ({ password: NEW, repeated: NEW })],
  'removing the password': [() => 'remove-password', () => ({})],
  'removing a passkey': [({ passkey }) => `remove-passkey?passkey=${passkey}`, () => ({})],
  'removing an account at a provider': [({ identity }) => `remove-provider?identity=${identity}`, () => ({})],
  'setting up an app': [() => 'app', (page) => ({ code: appOfPage(server, page).code() })],
}

/** What the operator does. */
const BY_OPERATOR: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
  'a new password of the operator': ({ email }) =>
    performOnUser(server.context, 'user.set-password', email, { password: NEW }),
  'user remove-passkey': ({ email, passkey }) =>
    performOnUser(server.context, 'user.remove-passkey', email, { passkey_id: passkey }),
  async 'user reset-second-factor'({ email }) {
    await performOnUser(server.context, 'user.reset-second-factor', email)
  },
  'user revoke-tokens': ({ email }) => performOnUser(server.context, 'user.revoke-tokens', email),
  async 'user disable and user enable'({ email }) {
    await performOnUser(server.context, 'user.disable', email)
    await performOnUser(server.context, 'user.enable', email)
  },
}

for (const [way, [address, fieldsOf]] of Object.entries(BY_USER)) {
  test(`LNK-03: after ${way} the app of a thief gets no code without a question in the browser of the owner`, async () => {
    const person = await aPerson()
    const { browser } = person
    await allow(browser)
    const page = await browser.get(`/account/security/${address(person)}`)
    const form = formsOf(page).find(({ action }) => action.includes('/account/security/'))
    assert.ok(form, page.body)
    const changed = await browser.post(form.action, { ...form.hidden, ...fieldsOf(page) })
    assert.ok(changed.statusCode === 303 || /Recovery codes|The passkey is removed/.test(changed.body), changed.body)
    assert.equal((await browser.get('/account')).statusCode, 200, 'the own session stays')
    assertAsks(await browser.get(SILENT))
  })
}

for (const [way, change] of Object.entries(BY_OPERATOR)) {
  test(`LNK-03: after ${way} the app of a thief gets no code without a question in the browser of the owner`, async () => {
    const person = await aPerson()
    if (way.includes('second-factor')) await addApp(server, person.email)
    await allow(person.browser)
    server.clock.advance(1)
    await change(person)
    server.clock.advance(1)
    assert.equal((await person.browser.get('/account')).statusCode, 303, 'all sessions end')
    const user = await server.context.store.findUserByEmail(person.email)
    assert.ok(user)
    assertAsks(await (await signedInBy(server, user, ['pop', 'mfa'])).browser.get(SILENT))
  })
}

async function allow(browser: PlainBrowser): Promise<void> {
  await signInAndAllow(browser, authorizeUrl(thief))
  assert.match((await browser.get(SILENT)).headers.location ?? '', /[?&]code=/)
}

function assertAsks({ headers: { location }, body }: LightMyRequestResponse): void {
  assert.match(location ?? body, /error=consent_required/)
}
