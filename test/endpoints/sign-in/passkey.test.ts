import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { AuditEvent } from '../../../src/ports/records/audit.ts'
import { readEvents } from '../../../src/protocol/audit/audit-link.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { FLAGS } from '../../../tools/sign-in/authenticator.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { performOnUser } from '../../support/tasks.ts'

const PATH = '/v2/oauth/sign-in/passkey'
/** The lifetime of an authorization, for which a challenge is valid. */
const LIFETIME_S = 600

/** What is wrong, and the reason that the log then has. */
const CASES = [
  ['nothing', undefined],
  ['a challenge of another browser', 'challenge'],
  ['a challenge for another page', 'challenge'],
  ['a challenge that is too old', 'challenge'],
  ['an answer that was used before', 'repeated'],
  ['another backup eligibility', undefined],
  ['a backup without being eligible', 'authenticator-data'],
  ['the user handle of another user', 'passkey-unknown'],
  ['no user handle', 'fields'],
  ['a disabled user', 'user'],
  ['tokens of the user that were revoked since the challenge', 'user'],
  ['a passkey that was removed since the challenge', 'passkey-unknown'],
] as const

test('PK-01, PK-04, PK-10: a signature starts a session only in its browser, for its page, in time, once, and for the user of the passkey', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_AUTHORIZATION_LIFETIME: String(LIFETIME_S) } })
  const { context, clock } = server
  const eve = await createAccount(server, { email: EMAIL, password: PASSWORD, name: undefined })
  for (const [index, [what, reason]] of CASES.entries()) {
    const email = `user-${index}@acme.test`
    const { id: userId } = await createAccount(server, { email, password: undefined, name: undefined })
    const { authenticator, passkey } = await givePasskey(server, userId)
    clock.advance(1000)
    const browser = new PlainBrowser(server)
    const start = async (by: PlainBrowser, page: string) => by.get(locationOf(await by.get(page)))
    const page = await start(browser, '/account')
    const { hidden } = passkeyFormOf(page)

    const answerTo = (of: typeof page) => {
      const {
        credential = '',
        clientDataJSON = '',
        authenticatorData = '',
        signature = '',
        userHandle = '',
      } = signedFields(of, { userId, authenticator })
      return { ...hidden, credential, clientDataJSON, authenticatorData, signature, userHandle }
    }
    let fields: Record<string, string> = answerTo(page)
    clock.advance(1000)
    switch (what) {
      case 'nothing':
        break
      case 'a challenge of another browser':
        fields = answerTo(await start(new PlainBrowser(server), '/account'))
        break
      case 'a challenge for another page':
        fields = answerTo(await start(browser, '/account/security'))
        break
      case 'a challenge that is too old':
        clock.advance(LIFETIME_S * 1000)
        break
      case 'an answer that was used before':
        assert.equal((await browser.post(PATH, fields)).statusCode, 303)
        break
      case 'another backup eligibility':
        fields = signedFields(page, { userId, authenticator, flags: FLAGS.up | FLAGS.uv | FLAGS.be })
        break
      case 'a backup without being eligible':
        fields = signedFields(page, { userId, authenticator, flags: FLAGS.up | FLAGS.uv | FLAGS.bs })
        break
      case 'the user handle of another user':
        fields = { ...fields, userHandle: Buffer.from(eve.id).toString('base64url') }
        break
      case 'no user handle':
        fields = { ...fields, userHandle: '' }
        break
      case 'a disabled user':
        await performOnUser(context, 'user.disable', email)
        break
      case 'tokens of the user that were revoked since the challenge':
        await performOnUser(context, 'user.revoke-tokens', email)
        break
      case 'a passkey that was removed since the challenge':
        await context.store.removePasskey({ userId, id: passkey.id, by: { kind: 'operator' }, mails: [] })
        break
    }
    const before = selectAll(server, 'select session_id from sessions').length
    const logged = server.log().length
    const answer = await browser.post(PATH, fields)
    const started = selectAll(server, 'select session_id from sessions').length - before
    assert.deepEqual([what, started], [what, reason === undefined ? 1 : 0])
    assert.equal(answer.statusCode, reason === undefined ? 303 : 401, what)
    const log = server.log().slice(logged)
    if (reason !== undefined) assert.ok(log.includes(`"${reason}"`), `${what}: ${log}`)
  }
})

test('WebAuthn L3 §6.1.3: a passkey whose backup eligibility changes signs in; the change is stored, and audited once', async (t) => {
  const server = await openTestServer(t)
  const { id: userId } = await createAccount(server, { email: EMAIL, password: undefined, name: undefined })
  const { authenticator } = await givePasskey(server, userId)
  server.clock.advance(1000)
  const { up, uv, be, bs } = FLAGS
  const events = []
  for (const [flags, isBackupEligible, isBackedUp, counter, ...more] of [
    [up | uv, false, false, 7],
    [up | uv | be | bs, true, true, 8, { event: 'passkey.backup-changed', eligible: true }],
    [up | uv | be | bs, true, true, 9],
    [up | uv | be, true, false, 10],
    [up | uv, false, false, 0, { event: 'passkey.counter-back', eligible: false }],
  ] as const) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get('/account')))
    const fields = signedFields(page, { userId, authenticator, flags, counter })
    assert.equal((await browser.post(PATH, fields)).statusCode, 303)
    const [stored] = await server.context.store.listPasskeys(userId)
    assert.partialDeepStrictEqual(stored, { isBackupEligible, isBackedUp })
    events.push(...more)
  }
  const links = await server.context.store.listAuditLinks({ before: undefined, limit: 50, since: 0 as EpochMs })
  const changes = links
    .flatMap((link) => readEvents(link) as readonly AuditEvent[])
    .filter(({ event }) => /^passkey\.(?!added)/.test(event))
  const [{ id: passkey } = assert.fail()] = await server.context.store.listPasskeys(userId)
  assert.deepEqual(
    changes.toReversed().map(({ event, details }) => ({ event, ...details })),
    events.map((one) => ({ ...one, passkey })),
  )
})
