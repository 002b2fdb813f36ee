import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { normalizeEmail, type EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import { createLink, sendLink } from '../../../src/admin/user/link.ts'
import { setEmail } from '../../../src/admin/user/user.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import { hiddenFields, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { deliver, mailedLinkTo, openMailHost } from '../../support/hosts/mail-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { openTestServer } from '../../support/server.ts'
import { storeApp } from '../../support/sign-in/stored-app.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { formsOf, openOwner } from '../account/owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const host = await openMailHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: host.env })
const { context } = server
const NEW = 'another long horse'
const BOTH = { password: NEW, repeated: NEW }
const HOUR_MS = 3_600_000
const PATH = '/v2/oauth/sign-in/forgot'

type Addressed = UserRecord & { readonly email: EmailAddress }

async function aUser({ isVerified = true, name }: { isVerified?: boolean; name?: string } = {}): Promise<Addressed> {
  const email = normalizeEmail(`${randomBytes(6).toString('hex')}@acme.test`)
  return { ...(await createAccount(server, { email, isVerified, password: PASSWORD, name })), email }
}

/** Another network each time, because one may ask for 20 mails an hour. */
function ask(email: string, headers: Readonly<Record<string, string>> = {}, remoteAddress = aNetwork()) {
  return server.inject({
    method: 'POST',
    url: PATH,
    remoteAddress,
    payload: new URLSearchParams({ email }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  })
}

function aNetwork(): string {
  const [one = 0, two = 0] = randomBytes(2)
  return `198.${one}.${two}.7`
}

function mailsTo({ email }: { readonly email: string }) {
  return host.mails.filter(({ to }) => to.includes(email))
}

test('a user who forgot the password gets a link that is valid for an hour, and sets a new one', async () => {
  const user = await aUser()
  const browser = new PlainBrowser(server)
  const signIn = await browser.get((await browser.get('/account')).headers.location ?? '')
  const address = /formaction="([^"]*\/forgot[^"]*)" name="ask"/.exec(signIn.body)?.[1] ?? ''
  const typed = ` ${user.email.toUpperCase()} `
  const form = await browser.post(address.replaceAll('&amp;', '&'), { email: typed, password: 'x', ask: '' })
  assert.ok(form.body.includes(`value="${typed}"`), 'the address that was typed is in the form')
  await deliver(server)
  assert.equal(mailsTo(user).length, 0)
  const done = await browser.submit(form, { email: typed })
  assert.match(done.body, pageSays('forgotDone'))
  assert.match(done.body, /href="http:\/\/localhost:3000\/v2\/oauth\/sign-in\?page=overview"/)
  await deliver(server)
  const link = mailedLinkTo(host, user.email)
  const [stored] = await context.store.listLinks(user.id)
  assert.deepEqual([stored?.origin, stored?.isMailed], ['user', true])
  assert.equal((stored?.expiresAt ?? 0) - (stored?.createdAt ?? 0), 3_600_000)
  const owner = openOwner(server, user.email)
  await owner.open('/account')
  const page = await browser.get(link)
  assert.match(page.body, pageSays('account.resetHeading'))
  assert.match((await browser.submit(page, BOTH)).body, pageSays('account.linkUsedHeading'))
  assert.equal((await owner.browser.get('/account')).statusCode, 303)
  assert.equal((await openOwner(server, user.email, NEW).open('/account')).statusCode, 200)
  assert.equal((await browser.get(link)).statusCode, 400)
})

test('ACC-01: Host and X-Forwarded-* of the request change no byte of the link', async () => {
  const hostile = ['evil.test', 'evil.test:443', 'localhost:3000@evil.test', 'localhost']
  for (const name of ['host', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'forwarded', 'x-host']) {
    for (const value of name === 'forwarded' ? ['host=evil.test;proto=https'] : hostile) {
      const user = await aUser()
      const answer = await ask(user.email, { [name]: value })
      if (answer.statusCode !== 200) continue
      await deliver(server)
      assert.match(
        mailedLinkTo(host, user.email),
        /^http:\/\/localhost:3000\/account\/link\?token=gln_[\w-]{90,}$/,
        name,
      )
      const [mail] = mailsTo(user)
      assert.doesNotMatch([...(mail?.headers ?? []), mail?.text, mail?.html].join('\n'), /evil/, name)
    }
  }
})

test('ACC-02: the steps of a reset in another order, with parts of another user, or without a link set no password', async () => {
  const [user, other] = [await aUser(), await aUser()]
  for (const { email } of [user, other]) await ask(email)
  await deliver(server)
  const tokenOf = ({ email }: Addressed) => new URL(mailedLinkTo(host, email)).searchParams.get('token') ?? ''
  const [own, foreign] = [tokenOf(user), tokenOf(other)]
  const spliced = own.slice(0, 40) + foreign.slice(40)
  const browser = new PlainBrowser(server)
  await assertStoreUnchanged(server, async () => {
    for (const token of ['', spliced, own.toUpperCase(), `${own}x`, own.slice(0, -1), user.id, PASSWORD]) {
      const answer = await browser.post('/account/link', { token, ...BOTH })
      assertLocalPage(answer, 400)
    }
    for (const path of [PATH, '/account/security/password', '/account/email', '/account/email/confirm']) {
      const answer = await browser.post(path, { token: own, ...BOTH, code: '12345678' })
      assert.ok([303, 400, 403].includes(answer.statusCode), `${path}: ${answer.statusCode}`)
    }
  })
  assert.equal((await openOwner(server, other.email).open('/account')).statusCode, 200)
})

test('ACC-03: another spelling of an address, or several at once, gets at most the one mail, to the stored address', async () => {
  const user = await aUser()
  const [local = '', domain = ''] = user.email.split('@')
  for (const typed of [
    `${local}+x@${domain}`,
    `${user.email}.evil.test`,
    `"${local}"@${domain}`,
    `x@evil.test,${user.email}`,
  ])
    await ask(typed)
  for (const body of [`email=${user.email}&email=x@evil.test`, `email[]=${user.email}&email[]=x@evil.test`]) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
    const answer = await server.inject({ method: 'POST', url: PATH, payload: body, headers, remoteAddress: aNetwork() })
    assert.equal(answer.statusCode, 400)
  }
  await deliver(server)
  assert.deepEqual(mailsTo(user), [])
  await ask(user.email.toUpperCase())
  await deliver(server)
  assert.deepEqual(mailsTo(user)[0]?.to, [user.email])
  assert.ok(host.mails.every(({ to }) => !to.some((address) => address.includes('evil'))))
})

test('ACC-09: all addresses of a domain get one answer, and only a verified one of an enabled account gets a mail', async (t) => {
  const idp = await openProviderHost(t)
  await addProvider(server, idp, { routing: 'required', domains: ['corp.test'] }, { id: 'corp', name: 'Corp' })
  server.clock.advance(1001)
  const [known, unverified, disabled] = [await aUser(), await aUser({ isVerified: false }), await aUser()]
  await context.store.disableUser({ id: disabled.id, now: context.clock() })
  const routed = `${randomBytes(6).toString('hex')}@corp.test`
  await createAccount(server, { email: `x${routed}`, isVerified: true, password: PASSWORD, name: undefined })
  const addresses = [known.email, unverified.email, disabled.email, 'nobody@acme.test', `x${routed}`, routed]
  const bodies = new Set<string>()
  const names: boolean[] = []
  for (const email of addresses) {
    const answer = await ask(email)
    const { date: _, 'x-request-id': id, ...headers } = answer.headers
    bodies.add(JSON.stringify([answer.statusCode, headers, answer.body]).replaceAll(String(id), 'id'))
    names.push(/sign in with .*Corp/.test(answer.body))
  }
  assert.equal(bodies.size, 2)
  assert.deepEqual(names, [false, false, false, false, true, true])
  await deliver(server)
  assert.deepEqual(
    addresses.map((email) => mailsTo({ email }).length),
    [1, 0, 0, 0, 0, 0],
  )
  const withheld = server
    .log()
    .split('\n')
    .filter((line) => line.includes('"mail.withheld"'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  assert.deepEqual(withheld.map((line) => [line['user'], line['reason']]).slice(0, 2), [
    [unverified.id, 'address-unverified'],
    [disabled.id, 'user-disabled'],
  ])
  assert.equal(withheld.at(-1)?.['reason'], 'provider-required')
  assert.equal((await ask('not an address')).statusCode, 400)
  // Another site would use up the mails of the visitor's network.
  assertLocalPage(await ask(known.email, { 'sec-fetch-site': 'cross-site' }), 403)
})

test('ACC-11: 100 requests for an address cause 5 mails an hour, of which none ends the one before; those of a network cause 20', async () => {
  const user = await aUser()
  const answers = new Set<string>()
  // Counts begin with the hour.
  server.clock.advance(HOUR_MS - (server.clock.now() % HOUR_MS))
  for (let count = 0; count < 100; count += 1) {
    answers.add((await ask(user.email)).body)
    if (count >= 5) continue
    await deliver(server)
    server.clock.advance(61_000)
  }
  await deliver(server)
  assert.deepEqual([answers.size, mailsTo(user).length], [1, 5])
  const newest = mailedLinkTo(host, user.email)
  const network = aNetwork()
  const others = await Promise.all(Array.from({ length: 25 }, () => aUser()))
  for (const { email } of others) await ask(email, {}, network)
  await deliver(server)
  assert.equal(others.filter((other) => mailsTo(other).length > 0).length, 20)
  // The last link is valid, because nothing replaced it.
  assert.equal((await new PlainBrowser(server).get(newest)).statusCode, 200)
  server.clock.advance(HOUR_MS)
  await ask(user.email)
  await deliver(server)
  assert.equal(mailsTo(user).length, 6)
})

test('ACC-19: strangers use up neither the resets of an address at once, nor the codes of a signed-in user of their network', async () => {
  const user = await aUser()
  server.clock.advance(HOUR_MS - (server.clock.now() % HOUR_MS))
  for (let count = 0; count < 10; count += 1) {
    await ask(user.email)
    await deliver(server)
  }
  assert.equal(mailsTo(user).length, 1)
  server.clock.advance(61_000)
  await ask(user.email)
  await deliver(server)
  assert.equal(mailsTo(user).length, 2)
  for (let count = 0; count < 21; count += 1) await ask(`${count}@nobody.test`, {}, '127.0.0.1')
  const owner = openOwner(server, user.email)
  const asked = await owner.submit(await owner.open('/account/email'), 'email', { email: `new.${user.email}` })
  assert.match(asked.body, pageSays('account.enterEmailCode'))
})

test('ACC-13: a scanner that opens a link and submits its forms without input uses nothing up', async () => {
  const user = await aUser()
  await ask(user.email)
  const invited = `${randomBytes(6).toString('hex')}@acme.test`
  await createAccount(server, { email: invited, password: undefined, name: undefined })
  await sendLink(context, invited)
  await deliver(server)
  for (const email of [user.email, invited]) {
    const link = mailedLinkTo(host, email)
    const before = selectAll(server, 'select * from links order by user_id')
    const scanner = new PlainBrowser(server)
    const page = await scanner.get(link)
    const forms = formsOf(page)
    assert.ok(forms.length >= 2)
    for (const { action, names } of forms) {
      const empty = Object.fromEntries([...names].map((name) => [name, '']))
      await scanner.post(action, { ...empty, ...hiddenFields(page) }, { 'sec-fetch-site': 'none' })
    }
    assert.deepEqual(selectAll(server, 'select * from links order by user_id'), before)
    const browser = new PlainBrowser(server)
    assert.match((await browser.submit(await browser.get(link), BOTH)).body, pageSays('account.linkUsedHeading'))
  }
})

test('LNK-04: a reset that anybody can ask for leaves a link of the operator valid, and an operator ends it with a link', async () => {
  const user = await aUser()
  const { address } = await createLink(context, user.email)
  await ask(user.email)
  await deliver(server)
  const asked = mailedLinkTo(host, user.email)
  assert.deepEqual(
    (await Promise.all([address, asked].map((link) => new PlainBrowser(server).get(link)))).map(
      (page) => page.statusCode,
    ),
    [200, 200],
  )
  const later = await createLink(context, user.email)
  assert.equal((await new PlainBrowser(server).get(asked)).statusCode, 400)
  assert.equal((await new PlainBrowser(server).get(later.address)).statusCode, 200)
})

test('LNK-01: a mailed invitation verifies the address, and names who invites; one handed over does not verify it', async () => {
  for (const isMailed of [true, false]) {
    const email = `${randomBytes(6).toString('hex')}@acme.test`
    const { id } = await createAccount(server, { email, password: undefined, name: undefined })
    const handed = isMailed ? undefined : await createLink(context, email)
    if (isMailed) await sendLink(context, email)
    await deliver(server)
    const browser = new PlainBrowser(server)
    const page = await browser.get(handed?.address ?? mailedLinkTo(host, email))
    assert.match(page.body, new RegExp(`<bdi>Grantor</bdi> has made an account for <bdi>${email}</bdi>`))
    await browser.submit(page, BOTH)
    assert.equal((await context.store.findUser(id))?.emailVerifiedAt !== undefined, isMailed)
  }
})

test('a link that was mailed to a previous address, to a user who was disabled, or that a new one replaced is not sent', async () => {
  const user = await aUser()
  await ask(user.email)
  await context.mail?.settled()
  await setEmail(context, user.id, { email: `new.${user.email}`, isVerified: true })
  await deliver(server)
  assert.deepEqual(
    mailsTo(user).filter(({ text }) => text.includes('token=')),
    [],
  )
})

test('without mail there is neither the page nor a word of it', async (t) => {
  const other = await openTestServer(t)
  const browser = new PlainBrowser(other)
  assert.equal((await browser.get(PATH)).statusCode, 404)
  assert.equal((await browser.post(PATH, { email: 'ada@acme.test' })).statusCode, 404)
  const signIn = await browser.get((await browser.get('/account')).headers.location ?? '')
  assert.match(signIn.body, /<details[^]*Ask the operator of/)
  assert.doesNotMatch(signIn.body, /\/forgot/)
})

test('ACC-17: a link adds no passkey to an account with an authenticator app, also one that was set up meanwhile', async () => {
  for (const isEarlier of [true, false]) {
    const user = await aUser()
    if (isEarlier) await storeApp(context, user.id)
    await ask(user.email)
    await deliver(server)
    const link = mailedLinkTo(host, user.email)
    const other = await aUser()
    await ask(other.email)
    await deliver(server)
    const browser = new PlainBrowser(server)
    const page = await browser.get(link)
    assert.equal(page.body.includes('Add a passkey'), !isEarlier)
    const offered = isEarlier ? await browser.get(mailedLinkTo(host, other.email)) : page
    const fields = { ...madeFields(offered, openAuthenticator()), token: new URL(link).searchParams.get('token') ?? '' }
    if (!isEarlier) await storeApp(context, user.id)
    const refused = await assertStoreUnchanged(server, () => browser.post('/account/link', fields))
    assert.equal(refused.statusCode, 400)
  }
})
