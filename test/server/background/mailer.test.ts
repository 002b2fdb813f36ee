import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { normalizeEmail, type EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import type { MailRecord } from '../../../src/ports/records/mail.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'
import { openMailer } from '../../../src/server/background/mailer.ts'
import { deriveLink } from '../../../src/protocol/sign-in/link.ts'
import { makeMail } from '../../../src/users/mails.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAccount } from '../../support/accounts.ts'
import { deliver, openMailHost } from '../../support/hosts/mail-host.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { eventsOf, listLinks } from '../../store/contract/chains.ts'

const host = await openMailHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: { ...host.env, GRANTOR_NAME: 'Acme' } })
const { clock, context } = server
const DAY_MS = 86_400_000
/** Seconds from each attempt to the next. */
const PAUSES_S = [30, 120, 600, 1800, 7200]

interface Recipient extends UserRecord {
  readonly email: EmailAddress
}

/** A user with a verified address, who has not got any mail. */
async function aRecipient(): Promise<Recipient> {
  const email = normalizeEmail(`${randomBytes(4).toString('hex')}@acme.test`)
  const user = await createAccount(server, { email, isVerified: true, password: undefined, name: undefined })
  return { ...user, email }
}

/** Stores a link for the user, with a mail that has it. */
async function mailLink({ id: userId, email }: Recipient, validMs = DAY_MS): Promise<MailRecord> {
  const now = context.clock()
  const draft = { userId, notice: undefined, address: email, language: 'en', agent: undefined } as const
  const expiresAt = after(now, validMs)
  const mail = makeMail(context, { ...draft, purpose: 'reset', happenedAt: now, expiresAt })
  const { hash } = deriveLink(context.secrets, mail)
  const link = {
    userId,
    origin: 'operator',
    isMailed: true,
    madeBy: undefined,
    madeWith: undefined,
    clientId: undefined,
    authorizationId: undefined,
    hash,
    purpose: 'reset',
    createdAt: now,
    expiresAt,
  } as const
  assert.equal(await context.store.createLink({ ...link, mails: [mail] }), 'created')
  return mail
}

function receivedBy({ email }: Recipient) {
  return host.mails.filter(({ to }) => to.includes(email))
}

/** The mails of a user that wait, with their attempts. */
function waitingFor({ id }: Pick<UserRecord, 'id'>): readonly unknown[] {
  return selectAll(server, 'select attempts from mails where user_id = ?', id).map(({ attempts }) => attempts)
}

async function undeliveredOf({ id }: UserRecord): Promise<readonly unknown[]> {
  const events = eventsOf(await listLinks(context.store, 0 as EpochMs))
  return events
    .filter(({ event, userId }) => event === 'mail.undelivered' && userId === id)
    .map(({ details }) => details)
}

test('a mail is sent once, with a link that works, and is no longer stored', async () => {
  const user = await aRecipient()
  const mail = await mailLink(user)
  await deliver(server)
  await deliver(server)
  const [received, ...others] = receivedBy(user)
  assert.ok(received !== undefined && others.length === 0)
  const { token } = deriveLink(context.secrets, mail)
  const uri = `http://localhost:3000/account/link?token=${token}`
  assert.ok(received.text.includes(`Choose a new password:\n${uri}\n`), received.text)
  assert.equal(received.html.split(`href="${uri}"`).length, 3)
  assert.equal((await server.inject({ url: uri })).statusCode, 200)
  assert.deepEqual(waitingFor(user), [])
})

test('a mail that is deferred is tried six times in three hours; the audit and the log have its end, and no address', async () => {
  const user = await aRecipient()
  await mailLink(user)
  host.behave((command) => (command.startsWith('RCPT') ? `451 <${user.email}> later` : undefined))
  for (const [attempts, pause] of PAUSES_S.entries()) {
    await deliver(server)
    assert.deepEqual(waitingFor(user), [attempts + 1])
    clock.advance((pause - 5) * 1000)
    await deliver(server)
    assert.deepEqual(waitingFor(user), [attempts + 1], 'not before its time')
    clock.advance(5000)
  }
  assert.deepEqual(await undeliveredOf(user), [])
  await deliver(server)
  host.behave(undefined)
  assert.deepEqual(waitingFor(user), [])
  assert.deepEqual(await undeliveredOf(user), [{ purpose: 'reset', reason: 'deferred' }])
  assert.match(server.log(), /"event":"mail\.undelivered"[^\n]*"reason":"deferred"[^\n]*the mail server answered 451/)
  const links = selectAll(server, 'select * from audit_links')
  assert.ok(!JSON.stringify(links).includes(user.email) && !server.log().includes(user.email))
  assert.deepEqual(receivedBy(user), [])
})

test('a mail ends at once if the mail server refuses it, and if its link has ended or expired', async () => {
  const [refused, replaced, expired] = [await aRecipient(), await aRecipient(), await aRecipient()]
  await mailLink(refused)
  const old = await mailLink(replaced)
  const newest = await mailLink(replaced)
  await mailLink(expired, 1000)
  clock.advance(1000)
  host.behave((command) => (command === `RCPT TO:<${refused.email}>` ? '550 unknown' : undefined))
  await deliver(server)
  host.behave(undefined)
  assert.deepEqual(await undeliveredOf(refused), [{ purpose: 'reset', reason: 'refused' }])
  assert.deepEqual(await undeliveredOf(replaced), [])
  assert.deepEqual(await undeliveredOf(expired), [{ purpose: 'reset', reason: 'expired' }])
  const texts = receivedBy(replaced).map(({ text }) => text)
  assert.equal(texts.length, 1)
  assert.ok(texts[0]?.includes(deriveLink(context.secrets, newest).token))
  assert.ok(!texts[0]?.includes(deriveLink(context.secrets, old).token))
  for (const user of [refused, replaced, expired]) assert.deepEqual(waitingFor(user), [])
})

test('ACC-11: a mail server that cannot be used is not tried with each mail that waits, and all are sent when it can', async () => {
  const users = [await aRecipient(), await aRecipient(), await aRecipient(), await aRecipient(), await aRecipient()]
  for (const user of users) await mailLink(user)
  const mail = context.mail
  assert.ok(mail !== undefined)
  const ignore = (): void => undefined
  const mailer = openMailer({ ...context, mail }, { error: ignore, warn: ignore })
  const round = async (): Promise<void> => {
    await mailer.round()
    await mailer.idle()
  }
  const attempts = (): number => users.flatMap(waitingFor).reduce<number>((sum, one) => sum + Number(one), 0)
  host.behave((_command, socket) => {
    socket.destroy()
    return ''
  })
  await round()
  await round()
  assert.equal(attempts(), 2, 'two connections, and none for ten seconds')
  clock.advance(10_000)
  await round()
  assert.equal(attempts(), 4)
  host.behave(undefined)
  clock.advance(30_000)
  await round()
  for (const user of users) assert.equal(receivedBy(user).length, 1)
})

test('nothing is sent while the clock of the node differs, nor when the node stops, and then the attempt does not count', async () => {
  const user = await aRecipient()
  await mailLink(user)
  const { mail } = context
  assert.ok(mail !== undefined)
  const ignore = (): void => undefined
  const differing = { ...context.clockCheck, differenceMs: () => 5000 }
  const early = openMailer({ ...context, clockCheck: differing, mail }, { error: ignore, warn: ignore })
  await early.round()
  assert.deepEqual(waitingFor(user), [0])
  const mailer = openMailer({ ...context, mail }, { error: ignore, warn: ignore })
  const asked = new Promise<void>((resolve) => {
    host.behave((command) => {
      if (!command.startsWith('RCPT')) return undefined
      resolve()
      return ''
    })
  })
  await mailer.round()
  assert.deepEqual(waitingFor(user), [1])
  await asked
  await mailer.close()
  host.behave(undefined)
  assert.deepEqual(waitingFor(user), [0])
  await deliver(server)
  assert.equal(receivedBy(user).length, 1)
})
