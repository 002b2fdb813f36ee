import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { normalizeEmail } from '../../../src/protocol/sign-in/email-address.ts'
import { createLink, sendLink } from '../../../src/admin/user/link.ts'
import { setEmail } from '../../../src/admin/user/user.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import { locationOf, PASSWORD } from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { deliver, mailedCodeTo, openMailHost } from '../../support/hosts/mail-host.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { beginWindow, openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { openOwner, type Owner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const host = await openMailHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: host.env })
const { context } = server
const PATH = '/account/email'
const CONFIRM = '/account/email/confirm'
const WRONG = '00000000'

type Person = UserRecord & { readonly email: string; readonly owner: Owner }

function anAddress(domain = 'acme.test'): string {
  return `${randomBytes(6).toString('hex')}@${domain}`
}

async function aPerson(isVerified = true, email = anAddress()): Promise<Person> {
  // Each test has the limit of its network for itself.
  server.clock.advance(3_601_000)
  const user = await createAccount(server, { email, isVerified, password: PASSWORD, name: undefined })
  return { ...user, email: normalizeEmail(email), owner: openOwner(server, email) }
}

/** Asks for the code of an address, and returns the page that asks for it. */
async function askFor({ owner }: Person, email: string) {
  const page = await owner.submit(await owner.open(PATH), 'email', { email })
  await deliver(server)
  return page
}

function mailsTo(address: string) {
  return host.mails.filter(({ to }) => to.includes(address))
}

test('the own address is changed by the code from the mailbox of the new one, and the old one gets a notice', async () => {
  const person = await aPerson()
  const { id, owner } = person
  const email = anAddress()
  assert.match((await owner.open('/account')).body, /href="[^"]*\/account\/email"/)
  await createLink(context, person.email)
  const page = await askFor(person, ` ${email.toUpperCase()} `)
  assert.match(page.body, new RegExp(`Enter the code that was sent to <bdi>${email}</bdi>`))
  assert.equal((await context.store.findUser(id))?.email, person.email)
  const changed = await owner.submit(page, 'code', { code: mailedCodeTo(host, email) })
  assert.match(changed.body, pageSays('account.notices.email-changed'))
  assert.match(changed.body, new RegExp(`${email}</bdi>\\s*<span[^>]*>verified`))
  await deliver(server)
  assert.match(mailsTo(person.email)[0]?.text ?? '', pageSays('mail.notices.email-changed'))
  assert.equal(mailsTo(email).length, 1)
  assert.deepEqual(await context.store.listLinks(id), [])
  assert.equal((await openOwner(server, email).open('/account')).statusCode, 200)
  await assert.rejects(openOwner(server, person.email).open('/account'), /do not match/)
})

test('the own address is confirmed by its code, and then needs no other', async () => {
  const person = await aPerson(false)
  const { owner } = person
  const overview = await owner.open('/account')
  const page = await owner.submit(overview, 'email')
  await deliver(server)
  const confirmed = await owner.submit(page, 'code', { code: mailedCodeTo(host, person.email).replace(' ', '') })
  assert.match(confirmed.body, pageSays('account.notices.email-confirmed'))
  assert.doesNotMatch(confirmed.body, /Confirm your address/)
  await deliver(server)
  assert.equal(mailsTo(person.email).length, 1)
  const again = await owner.submit(await owner.open(PATH), 'email', { email: person.email })
  assert.match(again.body, pageSays('account.emailUnchanged'))
})

test('ACC-16: codes of others and guesses are wrong; after five the right one is void, as after its time and a newer one', async () => {
  const [person, other] = [await aPerson(), await aPerson()]
  const [email, foreign] = [anAddress(), anAddress()]
  const page = await askFor(person, email)
  await askFor(other, foreign)
  for (const code of [mailedCodeTo(host, foreign), WRONG, WRONG, WRONG])
    assert.match(
      (await person.owner.submit(page, 'code', { code })).body,
      pageSays('account.emailCodeProblems.email-code-wrong'),
    )
  for (const code of ['', '1234567', 'abcdefgh', '123456789', '１２３４５６７８'])
    assert.match(
      (await person.owner.submit(page, 'code', { code })).body,
      pageSays('account.emailCodeProblems.email-code-wrong'),
    )
  assert.match(
    (await person.owner.submit(page, 'code', { code: WRONG })).body,
    pageSays('account.emailCodeProblems.email-code-void'),
  )
  const right = { code: mailedCodeTo(host, email) }
  assert.match(
    (await person.owner.submit(page, 'code', right)).body,
    pageSays('account.emailCodeProblems.email-code-void'),
  )

  await askFor(person, email)
  const old = mailedCodeTo(host, email)
  const newer = await askFor(person, email)
  assert.match(
    (await person.owner.submit(newer, 'code', { code: old })).body,
    pageSays('account.emailCodeProblems.email-code-wrong'),
  )
  server.clock.advance(15 * 60_000)
  const late = await person.owner.submit(newer, 'code', { code: mailedCodeTo(host, email) })
  assert.match(late.body, pageSays('account.emailCodeProblems.email-code-void'))
  assert.equal((await context.store.findUser(person.id))?.email, person.email)
  const done = await person.owner.submit(await askFor(other, foreign), 'code', { code: mailedCodeTo(host, foreign) })
  assert.equal(done.statusCode, 403, 'A form of another user.')
})

test('ACC-15: the address of another user gets the same answer and a code; only a person with the code learns more', async () => {
  const [person, other] = [await aPerson(), await aPerson()]
  const free = anAddress()
  const bodies: string[] = []
  for (const email of [free, other.email]) {
    const page = await askFor(person, email)
    const wrong = await person.owner.submit(page, 'code', { code: WRONG })
    bodies.push([page.statusCode, page.body, wrong.statusCode, wrong.body].join('\n').replaceAll(email, 'address'))
  }
  assert.equal(bodies[0], bodies[1])
  assert.equal(mailsTo(other.email).length, 1)
  const page = await person.owner.open(CONFIRM)
  const taken = await person.owner.submit(page, 'code', { code: mailedCodeTo(host, other.email) })
  assert.match(taken.body, pageSays('account.emailCodeProblems.email-taken'))
  assert.equal((await context.store.findUser(person.id))?.email, person.email)
  assert.equal((await context.store.findUserByEmail(other.email))?.id, other.id)
})

test('ACC-15: an address of a required provider is refused, also if it is required since; its users cannot leave it', async (t) => {
  const idp = await openProviderHost(t)
  const [person, leaving] = [await aPerson(), await aPerson(true, anAddress('corp.test'))]
  const address = anAddress('corp.test')
  await leaving.owner.open('/account')
  const page = await askFor(person, address)
  await addProvider(server, idp, { routing: 'required', domains: ['corp.test'] }, { id: 'corp', name: 'Corp' })
  server.clock.advance(1001)
  const late = await person.owner.submit(page, 'code', { code: mailedCodeTo(host, address) })
  assert.match(late.body, pageSays('account.emailCodeProblems.email-code-void'))
  const refused = await assertStoreUnchanged(server, async () =>
    person.owner.submit(await person.owner.open(PATH), 'email', { email: anAddress('corp.test') }),
  )
  assert.match(refused.body, /Users with such an address sign in at <bdi>Corp<\/bdi> only/)
  assert.doesNotMatch((await leaving.owner.browser.get('/account')).body, /href="[^"]*\/account\/email"/)
  assert.equal((await leaving.owner.browser.get(PATH)).statusCode, 404)
})

test('ACC-14: an account gets 5 codes an hour, an address too, and nothing is counted without a recent sign-in', async () => {
  const person = await aPerson()
  const page = await person.owner.open(PATH)
  server.clock.advance(6 * 60_000)
  const late = await assertStoreUnchanged(server, () => person.owner.submit(page, 'email', { email: anAddress() }))
  assert.match(late.body, pageSays('account.confirm'))
  const signIn = await person.owner.browser.get(locationOf(await person.owner.browser.get(PATH)))
  await person.owner.browser.submit(signIn, { email: person.email, password: PASSWORD })
  for (let count = 0; count < 5; count += 1)
    assert.equal((await person.owner.submit(page, 'email', { email: anAddress() })).statusCode, 200)
  assert.equal((await person.owner.submit(page, 'email', { email: anAddress() })).statusCode, 429)
  const shared = anAddress()
  const askers = await Promise.all(Array.from({ length: 6 }, () => aPerson()))
  const codes: number[] = []
  for (const { owner } of askers)
    codes.push((await owner.submit(await owner.open(PATH), 'email', { email: shared })).statusCode)
  assert.deepEqual(codes, [200, 200, 200, 200, 200, 429])
})

test('ACC-03: what is no address for mail is refused, and no code, token or address is in the store readable, or in the audit', async () => {
  const person = await aPerson()
  const { owner } = person
  const page = await owner.open(PATH)
  for (const email of [
    '',
    'x',
    `"a b"@acme.test`,
    'a@b\r\nBcc: x@evil.test',
    'a@b,c@d',
    'a@[127.0.0.1]',
    'x'.repeat(300),
  ])
    assert.match((await owner.submit(page, 'email', { email })).body, pageSays('emailMissing'))
  const email = anAddress()
  await askFor(person, email)
  const code = mailedCodeTo(host, email).replace(' ', '')
  assert.ok(!JSON.stringify(selectAll(server, 'select * from email_codes')).includes(code))
  await owner.submit(await owner.open(CONFIRM), 'code', { code })
  const audit = JSON.stringify(selectAll(server, 'select events from audit_links'))
  assert.ok(audit.includes('user.email-changed') && !audit.includes(email))
})

test('a code whose user got another address by the operator, or another code, is not sent', async () => {
  const person = await aPerson()
  const [email, other] = [anAddress(), anAddress()]
  const page = await person.owner.open(PATH)
  await person.owner.submit(page, 'email', { email })
  await person.owner.submit(page, 'email', { email: other })
  await deliver(server)
  assert.deepEqual([mailsTo(email).length, mailsTo(other).length], [0, 1])
  await person.owner.submit(page, 'email', { email })
  await setEmail(context, person.id, { email: anAddress(), isVerified: false })
  await deliver(server)
  assert.equal(mailsTo(email).length, 0)
})

test('ACC-21: send-link answers no link, and mails one in a minute, five in an hour; without mail or a mailbox it stores nothing', async (t) => {
  beginWindow(server, 3_600_000)
  const { email, id } = await aPerson()
  const send = () => perform(context, 'user.send-link', { user_id: id })
  const refuses = (message: RegExp) => assertStoreUnchanged(server, () => assert.rejects(send(), message))
  for (let count = 1; count <= 5; count += 1) {
    const { expires_at, ...sent } = await send()
    assert.deepEqual(sent, { user_id: id, email, purpose: 'reset', methods: ['password', 'passkey', 'corp'] })
    assert.ok(Date.parse(String(expires_at)) > server.clock.now())
    await deliver(server)
    assert.equal(mailsTo(email).length, count)
    assert.match(mailsTo(email).at(-1)?.text ?? '', /The link is valid for 24 hours/)
    server.clock.advance(50_000)
    await refuses(count < 5 ? /on its way/ : /5 mails with a link went to/)
    // What would let another mail follow at once uses none of the others up.
    if (count === 2) await perform(context, 'user.create-link', { user_id: id })
    server.clock.advance(10_000)
  }
  for (const task of ['user.disable', 'user.enable']) await perform(context, task, { user_id: id })
  await refuses(/5 mails with a link went to/)
  server.clock.advance(3_600_000)
  await send()
  const quoted = await createAccount(server, { email: '"a"@acme.test', password: undefined, name: undefined })
  await assertStoreUnchanged(server, () => assert.rejects(sendLink(context, quoted.id), /No mail can be sent/))
  const other = await openTestServer(t)
  const ada = await createAccount(other, { email, password: undefined, name: undefined })
  await assertStoreUnchanged(other, () => assert.rejects(sendLink(other.context, ada.id), /The server sends no mail/))
})
