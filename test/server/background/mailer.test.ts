import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { MailRecord } from '../../../src/ports/records/mail.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import { after } from '../../../src/base/brand.ts'
import { deriveLink } from '../../../src/protocol/sign-in/link.ts'
import { makeMail } from '../../../src/users/mails.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAccount } from '../../support/accounts.ts'
import { deliver, openMailHost } from '../../support/hosts/mail-host.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'

const host = await openMailHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: { ...host.env, GRANTOR_NAME: 'Acme' } })
const { context } = server
const DAY_MS = 86_400_000

/** A user with a verified address, who has not got any mail. */
async function aRecipient(): Promise<UserRecord & { readonly email: string }> {
  const email = `${randomBytes(4).toString('hex')}@acme.test`
  const user = await createAccount(server, { email, isVerified: true, password: undefined, name: undefined })
  return { ...user, email }
}

/** Stores a link for the user, with a mail that has it. */
async function mailLink({ id: userId, email }: UserRecord & { readonly email: string }): Promise<MailRecord> {
  const now = context.clock()
  const draft = { userId, notice: undefined, address: email, language: 'en', agent: undefined } as const
  const times = { happenedAt: now, expiresAt: after(now, DAY_MS) }
  const mail = makeMail(context, { ...draft, ...times, purpose: 'reset' })
  const { hash } = deriveLink(context.secrets, mail)
  const made = { userId, origin: 'operator', isMailed: true, hash, purpose: 'reset', createdAt: now } as const
  assert.equal(await context.store.createLink({ ...made, expiresAt: times.expiresAt, mails: [mail] }), 'created')
  return mail
}

function receivedBy({ email }: { readonly email: string }) {
  return host.mails.filter(({ to }) => to.includes(email))
}

function waitingFor({ id }: UserRecord): number {
  return selectAll(server, 'select user_id from mails').filter((row) => row['user_id'] === id).length
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
  assert.ok(received.text.includes(`Set a new password:\n${uri}\n`), received.text)
  assert.equal(received.html.split(`href="${uri}"`).length, 3)
  assert.equal((await server.inject({ url: uri })).statusCode, 200)
  assert.equal(waitingFor(user), 0)
})
