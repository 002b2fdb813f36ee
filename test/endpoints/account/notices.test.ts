import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOTICE_KINDS } from '../../../src/ports/records/mail.ts'
import { createLink } from '../../../src/admin/user/link.ts'
import {
  EMAIL,
  locationOf,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  refresh,
  registerClient,
  type RequestTarget,
  type Tokens,
} from '../../../tools/flow.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { appOfPage, doFirstStep, submitTo } from '../../support/sign-in/apps.ts'
import { execute, selectAll } from '../../support/store/dump.ts'
import { beginWindow } from '../../support/server.ts'
import { perform, performOnUser } from '../../support/tasks.ts'
import { openServerWithProvider } from '../sign-in/provider/server-with-provider.ts'
import { openOwner, signInByPasskey } from './owner.ts'

/** Nothing listens there, and nothing is sent: the test reads what waits. */
const MAIL = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:1', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const NEXT = 'another long horse'
const HOUR_MS = 60 * 60 * 1000
const SECURITY = '/account/security'

/** A kind of notice, for whom, in which language, and from which browser. */
type Queued = readonly [notice: unknown, address: unknown, locale: unknown, browser: unknown]

test('each change of the sign-in methods, by the user, a link or the operator, queues one notice to the verified address', async (t) => {
  const { server, host } = await openServerWithProvider(t, {}, { env: MAIL })
  const { context } = server
  // Some notices leave once in an hour, which is a window of the clock.
  beginWindow(server, HOUR_MS)
  const { id: userId } = await createAccount(server, {
    email: EMAIL,
    password: PASSWORD,
    name: 'Ada',
    isVerified: true,
    profile: { locale: 'de-AT' },
  })
  const client = await registerClient(server)
  const target: RequestTarget = {
    inject: (options) =>
      server.inject({ ...options, headers: { ...options.headers, 'user-agent': FIREFOX, 'accept-language': 'en' } }),
  }
  const kinds = new Set<string>()

  /** The mails that wait since the last call. */
  function waiting(): readonly Queued[] {
    const rows = selectAll(server, 'select * from mails order by address')
    if (rows.length > 0) execute(server, 'delete from mails')
    // The pages of a sign-in method are for users who signed in a moment ago, and sessions end before what follows them.
    server.clock.advance(1001)
    for (const { notice, purpose, agent_system: system, agent_browser: browser } of rows) {
      assert.deepEqual([purpose, system], ['notice', browser === null ? null : 'Linux'])
      kinds.add(String(notice))
    }
    return rows.map(({ notice, address, locale, agent_browser: browser }) => [notice, address, locale, browser])
  }
  const byUser = (notice: string): readonly Queued[] => [[notice, EMAIL, 'en', 'Firefox']]
  const byOperator = (notice: string, address = EMAIL): Queued => [notice, address, 'de', null]

  const owner = openOwner(target)
  await owner.open('/account')
  assert.deepEqual(waiting(), [], 'a sign-in is no change')
  const password = await owner.open(`${SECURITY}/password`)
  await owner.submit(password, 'password', { password: NEXT, repeated: 'different' })
  assert.deepEqual(waiting(), [], 'nor is a change that is refused')
  await owner.submit(password, 'password', { password: NEXT, repeated: NEXT })
  assert.deepEqual(waiting(), byUser('password-changed'))

  const authenticator = openAuthenticator()
  const add = await owner.open(`${SECURITY}/add-passkey`)
  await owner.browser.post(`${SECURITY}/add-passkey`, madeFields(add, authenticator))
  assert.deepEqual(waiting(), byUser('passkey-added'))
  const [passkey] = await context.store.listPasskeys(userId)
  for (const counter of [7, 3, 2]) {
    const browser = new PlainBrowser(target)
    const page = await browser.get(locationOf(await browser.get(SECURITY)))
    const fields = signedFields(page, { userId, authenticator, counter })
    assert.equal((await browser.post(passkeyFormOf(page).action, fields)).statusCode, 303)
    assert.deepEqual(waiting(), counter === 3 ? byUser('counter-back') : [], 'one in an hour')
  }
  await signInByPasskey(owner.browser, userId, authenticator)
  waiting()
  const { csrf = '' } = passkeyFormOf(add).hidden
  await owner.browser.post(`${SECURITY}/remove-passkey`, { csrf, passkey: passkey?.id ?? '' })
  assert.deepEqual(waiting(), byUser('passkey-removed'))

  const left = await owner.submit(await owner.open(`${SECURITY}/add-provider`), 'provider')
  await owner.browser.get(host.approve(leadsTo(left), { sub: 'ada' }), { 'user-agent': FIREFOX })
  assert.deepEqual(waiting(), byUser('provider-added'))
  await owner.browser.submit(await owner.open(`${SECURITY}/remove-password`), {})
  assert.deepEqual(waiting(), byUser('password-removed'))
  await owner.submit(await owner.open(`${SECURITY}/password`), 'password', { password: PASSWORD, repeated: PASSWORD })
  assert.deepEqual(waiting(), byUser('password-changed'))
  await owner.remove(await owner.open(SECURITY), 'identity')
  assert.deepEqual(waiting(), byUser('provider-removed'))

  const app = await owner.open(`${SECURITY}/app`)
  await owner.submit(app, 'code', { code: appOfPage(server, app).code() })
  assert.deepEqual(waiting(), byUser('two-step-on'))
  await owner.submit(await owner.open(`${SECURITY}/recovery-codes`), 'csrf', {})
  assert.deepEqual(waiting(), byUser('recovery-codes-replaced'))
  await owner.submit(await owner.open(`${SECURITY}/remove-two-step`), 'csrf', {})
  assert.deepEqual(waiting(), byUser('two-step-off'))

  const from = (remoteAddress: string): RequestTarget => ({ inject: (one) => server.inject({ ...one, remoteAddress }) })
  for (const [waitMs, mails] of [
    [0, [byOperator('app-ended')]],
    [0, []],
    [HOUR_MS, [byOperator('app-ended')]],
  ] as const) {
    server.clock.advance(waitMs)
    const { refresh_token: first = '' } = await obtainTokens(from('127.0.0.2'), client, { prompt: 'consent' })
    const { refresh_token: newest = '' } = (await refresh(from('127.0.0.2'), client, first)).json<Tokens>()
    server.clock.advance(60_000)
    await refresh(from('127.0.0.3'), client, first)
    assert.deepEqual(waiting(), [], 'a family that is held may go on')
    for (const presented of [newest, newest]) await refresh(from('127.0.0.2'), client, presented)
    assert.deepEqual(waiting(), mails)
  }

  const { wrongCode, recoveryCodes } = await addApp(server)
  const guesser = new PlainBrowser(target)
  const step = await doFirstStep(guesser, client)
  for (const guesses of [1, 2, 3, 4, 5, 6]) {
    await submitTo(guesser, step, '/sign-in/code', { code: wrongCode() })
    assert.deepEqual(waiting(), guesses === 5 ? byUser('codes-wrong') : [], `${guesses} wrong codes`)
  }
  const recovering = new PlainBrowser(target)
  const second = await doFirstStep(recovering, client)
  await submitTo(recovering, second, '/recovery-code', { code: recoveryCodes[0] ?? '' })
  assert.deepEqual(waiting(), byUser('recovery-code-used'))

  await performOnUser(context, 'user.reset-second-factor', EMAIL)
  assert.deepEqual(waiting(), [byOperator('two-step-reset')])
  await performOnUser(context, 'user.set-password', EMAIL, { password: NEXT })
  assert.deepEqual(waiting(), [byOperator('password-changed')])
  const browser = new PlainBrowser(target)
  const linked = await browser.get((await createLink(context, EMAIL)).address)
  await browser.post('/account/link', madeFields(linked, authenticator))
  assert.deepEqual(waiting(), byUser('passkey-added'))
  const [other] = await context.store.listPasskeys(userId)
  await performOnUser(context, 'user.remove-passkey', EMAIL, { passkey_id: other?.id })
  assert.deepEqual(waiting(), [byOperator('passkey-removed')])
  const again = await browser.get((await createLink(context, EMAIL)).address)
  await browser.submit(again, { password: PASSWORD, repeated: PASSWORD })
  assert.deepEqual(waiting(), byUser('password-changed'))

  const { organization_id } = await perform(context, 'organization.create', { name: 'Acme' })
  await perform(context, 'member.invite', { organization_id, email: EMAIL })
  assert.deepEqual(waiting(), [byOperator('organization-joined')])

  await performOnUser(context, 'user.set-email', EMAIL, { email: 'ada@new.test', verified: true })
  assert.deepEqual(waiting(), [byOperator('email-changed'), byOperator('email-changed', 'ada@new.test')])
  await performOnUser(context, 'user.set-email', 'ada@new.test', { email: EMAIL })
  assert.deepEqual(waiting(), [byOperator('email-changed', 'ada@new.test')], 'the new address is not verified')
  await performOnUser(context, 'user.set-password', EMAIL, { password: NEXT })
  assert.deepEqual(waiting(), [], 'none goes to an address that is not verified')
  assert.deepEqual([...kinds].toSorted(), [...NOTICE_KINDS].toSorted(), 'every kind was seen')
})
