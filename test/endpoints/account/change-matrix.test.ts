import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import type { SessionRecord, UserRecord } from '../../../src/ports/records/user.ts'
import type { AuthenticationMethod, ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { PASSWORD, type PlainBrowser } from '../../../tools/flow.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { combine } from '../../support/runner/cases.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { aPasskey } from '../../support/sign-in/factor-records.ts'
import { signedInBy } from '../../support/sign-in/sessions.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { sentence } from '../../texts/page-texts.ts'

/** Each change of how a user signs in × how the session began × the second factors of the account × whether two are required. */

/** How a session began. */
const SESSIONS = {
  'a password': ['pwd'],
  'a provider': ['fed'],
  'a code': ['pwd', 'otp', 'mfa'],
  'a multi-factor provider': ['fed', 'mfa'],
  'a passkey': ['pop', 'mfa'],
  'a recovery code': ['fed', 'mfa', 'recovery'],
} as const satisfies Readonly<Record<string, readonly AuthenticationMethod[]>>
type SessionName = keyof typeof SESSIONS
const ALL = Object.keys(SESSIONS) as readonly SessionName[]

/** The rule: by the second factors of the account, the sessions in which its user changes how the user signs in. */
const ALLOWED = {
  'no second factor': ALL,
  'an app': ['a code', 'a multi-factor provider', 'a passkey', 'a recovery code'],
  'an identity': ['a code', 'a multi-factor provider', 'a passkey', 'a recovery code'],
  'an identity at a disabled provider': ['a code', 'a multi-factor provider', 'a passkey', 'a recovery code'],
  'a passkey': ['a passkey', 'a recovery code'],
  'an app and a passkey': ['a passkey', 'a recovery code'],
} as const satisfies Readonly<Record<string, readonly SessionName[]>>
type FactorName = keyof typeof ALLOWED

/** The sessions in which the user may change the password that the account has, whatever its factors: it was typed. */
const WITH_PASSWORD: readonly SessionName[] = ['a password', 'a code']

/** Where two factors are required, a session of one does not count. */
const OF_ONE_FACTOR: readonly SessionName[] = ['a password', 'a provider']

/** The pages with fields of their forms, which get past the rule and fail the check of the form, or change the account last. */
const CHANGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/account/email': { email: '' },
  '/account/email/confirm': { code: '' },
  '/account/security/add-provider': { provider: '' },
  '/account/security/remove-provider': { identity: '' },
  '/account/security/add-passkey': { credential: '' },
  '/account/security/remove-passkey': { passkey: '' },
  '/account/security/app': { code: '' },
  '/account/security/recovery-codes': {},
  '/account/security/remove-two-step': {},
  '/account/security/remove-password': {},
}
const PASSWORD_PAGE = '/account/security/password'
/** What adds and removes no way in. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/account': { name: 'Ada' },
  '/account/data': {},
}

const mail = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
const host = await openProviderHost(WHOLE_FILE)
const SERVERS = {
  optional: await openTestServer(WHOLE_FILE, { env: mail }),
  required: await openTestServer(WHOLE_FILE, { env: { ...mail, GRANTOR_SECOND_FACTOR: 'required' } }),
}
for (const server of Object.values(SERVERS)) {
  await addProvider(server, host)
  for (const id of ['strong', 'disabled']) await addProvider(server, host, { multiFactor: true }, { id })
  server.clock.advance(1001)
}

interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
  readonly browser: PlainBrowser
  readonly csrf: string
}

/** A user without a second factor, who is signed in. */
async function aPerson(server: TestServer, name: SessionName, password: string | undefined): Promise<Person> {
  const email = `${randomUUID()}@acme.test`
  const user = await createAccount(server, { email, isVerified: true, password, name: undefined })
  const { browser, session } = await signedInBy(server, user, SESSIONS[name])
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get('/account')).body)?.[1] ?? ''
  return { user, session, browser, csrf }
}

async function addFactors(server: TestServer, { user, session }: Person, factors: FactorName): Promise<void> {
  const reason = { kind: 'session', session: coversAll(session) } as const
  if (factors.includes('passkey'))
    assert.equal(
      await server.context.store.addPasskey({ passkey: aPasskey({ userId: user.id }), reason, mails: [] }),
      'added',
    )
  if (factors.includes('app')) await addApp(server, user.email)
  if (!factors.includes('identity')) return
  const { clock, context } = server
  const providerId = (factors.includes('disabled') ? 'disabled' : 'strong') as ProviderId
  const identity = anIdentity({ userId: user.id, providerId })
  await context.store.enableProvider(providerId)
  assert.equal(await context.store.linkIdentity({ identity, reason, now: clock.now(), mails: [] }), 'linked')
  if (providerId === 'disabled') await context.store.disableProvider({ id: providerId, now: clock.now() })
}

/** Whether the answer asks for another sign-in. */
function asks({ statusCode, headers: { location }, body }: LightMyRequestResponse, what: string): boolean {
  if (statusCode === 303 && location?.includes('/sign-in?') === true) return true
  assert.ok([200, 303, 400].includes(statusCode), `${what}: ${statusCode}`)
  return body.includes(sentence('account.confirm')) || body.includes('Your account has a passkey')
}

const FACTORS = Object.keys(ALLOWED) as readonly FactorName[]
const CASES = combine([Object.values(SERVERS), FACTORS, ALL])

for (const [rule, server] of Object.entries(SERVERS)) {
  for (const factors of FACTORS) {
    test(`ACR-06: ${rule}, an account with ${factors}: a change of the sign-in is allowed in a session by ${ALLOWED[factors].join(', ')}, and asks in all others`, async () => {
      for (const [where, has, name] of CASES)
        if (where === server && has === factors) await checkSession(server, rule === 'required', factors, name)
    })
  }
}

async function checkSession(
  server: TestServer,
  isRequired: boolean,
  factors: FactorName,
  name: SessionName,
): Promise<void> {
  const isSession = !isRequired || !OF_ONE_FACTOR.includes(name)
  const isAllowed = isSession && (ALLOWED[factors] as readonly SessionName[]).includes(name)
  const what = `${name}, ${factors}`
  const person = await aPerson(server, name, PASSWORD)
  const left = isSession ? await depart(person) : undefined
  await addFactors(server, person, factors)
  const { browser, csrf } = person
  const check = async (path: string, fields: Readonly<Record<string, string>>, expected: boolean) => {
    assert.equal(asks(await browser.get(path), `${what}: ${path}`), !expected, `${what}: GET ${path}`)
    assert.equal(
      asks(await browser.post(path, { csrf, ...fields }), `${what}: ${path}`),
      !expected,
      `${what}: POST ${path}`,
    )
  }
  for (const [path, fields] of Object.entries(OTHERS)) await check(path, fields, isSession)
  await check(PASSWORD_PAGE, { password: '' }, isAllowed || (isSession && WITH_PASSWORD.includes(name)))
  const changeAll = async () => {
    for (const [path, fields] of Object.entries(CHANGES)) await check(path, fields, isAllowed)
  }
  if (left !== undefined) {
    const back = await browser.get(
      host.approve(left, { sub: randomUUID(), auth_time: Math.floor(server.clock.now() / 1000) }),
    )
    const identities = await server.context.store.listIdentities(person.user.id)
    assert.equal(
      identities.some(({ providerId }) => providerId === 'idp'),
      isAllowed,
      `${what}: the callback of a provider`,
    )
    if (!isAllowed) assert.ok(back.statusCode >= 400, what)
  }
  await (isAllowed ? changeAll() : assertStoreUnchanged(server, changeAll, what))
  if (!isSession) return
  // A first password is another way in, whatever the session.
  const other = await aPerson(server, name, undefined)
  await addFactors(server, other, factors)
  const answer = await other.browser.post(PASSWORD_PAGE, { csrf: other.csrf, password: '' })
  assert.equal(asks(answer, what), !isAllowed, `${what}: a first password`)
}

/** Goes to a provider to add it, and returns its address there. */
async function depart({ browser, csrf }: Person): Promise<string> {
  return leadsTo(await browser.post('/account/security/add-provider', { csrf, provider: 'idp' }))
}
