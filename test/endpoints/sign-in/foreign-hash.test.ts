import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { noteForeignHashes } from '../../../src/doctor/foreign-hashes.ts'
import { readForeignHash } from '../../../src/passwords/foreign-hash.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient } from '../../../tools/flow.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { eventsOf, listLinks } from '../../store/contract/chains.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { aHash, aUser } from '../../support/records.ts'
import { HASH_VECTORS, LONG_VECTOR, VECTOR_PASSWORD } from '../../support/sign-in/hash-vectors.ts'
import { openTestServer } from '../../support/server.ts'
import { hasSession } from '../../support/session-cookie.ts'
import { submitTo } from '../../support/sign-in/apps.ts'

const BCRYPT = HASH_VECTORS[0]?.text ?? ''
const OWN = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/

const server = await openTestServer(WHOLE_FILE, { passwordCosts: 'released' })
const client = await registerClient(server)

test('a sign-in replaces the hash of another system, ends nothing, and is recorded once', async () => {
  for (const text of [BCRYPT, HASH_VECTORS[10]?.text ?? '']) {
    const email = await createForeign(text)
    const before = await server.context.store.findUserByEmail(email)
    for (const round of [1, 2]) {
      const answer = await signIn(email, VECTOR_PASSWORD)
      assert.equal(answer.statusCode, 303, `round ${round}: ${answer.body}`)
    }
    const after = await server.context.store.findUserByEmail(email)
    assert.match(after?.passwordHash ?? '', OWN)
    assert.equal(after?.notBefore, before?.notBefore)
    const sessions = await server.context.store.listSessions({ userId: after?.id, before: undefined, limit: 9 })
    assert.equal(sessions.length, 2)
    const read = readForeignHash(text)
    assert.deepEqual(await upgradesOf(after?.id), [typeof read === 'string' ? read : read.format])
  }
})

test('a wrong password, a disabled account and a NUL replace nothing', async () => {
  const email = await createForeign(BCRYPT)
  for (const wrong of ['wrong', `${VECTOR_PASSWORD}\0`, VECTOR_PASSWORD.normalize('NFKC')])
    assert.equal((await signIn(email, wrong)).statusCode, 401)
  const id = (await server.context.store.findUserByEmail(email))?.id
  assert.ok(id)
  await server.context.store.disableUser({ id, now: server.context.clock() })
  assert.equal((await signIn(email, VECTOR_PASSWORD)).statusCode, 401)
  assert.equal((await server.context.store.findUserByEmail(email))?.passwordHash, BCRYPT)
})

test('IMP-12: a password of which bcrypt compares a part signs in, and its hash stays', async () => {
  const email = await createForeign(LONG_VECTOR.text)
  assert.equal((await signIn(email, LONG_VECTOR.password)).statusCode, 303)
  assert.equal((await server.context.store.findUserByEmail(email))?.passwordHash, LONG_VECTOR.text)
})

test('the hash is replaced before the second step, and the sign-in goes on with it', async () => {
  const email = await createForeign(BCRYPT)
  const app = await addApp(server, email)
  const browser = new PlainBrowser(server)
  const page = await browser.submit(await signInPage(browser), { email, password: VECTOR_PASSWORD })
  assert.ok(!hasSession(browser))
  assert.match((await server.context.store.findUserByEmail(email))?.passwordHash ?? '', OWN)
  assert.ok(!JSON.stringify([page.body, page.headers]).includes('correct horse'))
  const answer = await submitTo(browser, page, '/sign-in/code', { code: app.code() })
  assert.equal(answer.statusCode, 303, answer.body)
  assert.ok(hasSession(browser))
})

test('IMP-11: of several sign-ins with one password at once each succeeds, and one replaces the hash', async () => {
  const email = await createForeign(BCRYPT)
  const answers = await Promise.all([1, 2, 3].map(() => signIn(email, VECTOR_PASSWORD)))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [303, 303, 303],
  )
  const id = (await server.context.store.findUserByEmail(email))?.id
  assert.deepEqual(await upgradesOf(id), ['bcrypt'])
})

test('IMP-11: a new password that is set while the previous one is verified wins', async (t) => {
  const email = await createForeign(BCRYPT)
  const { passwords, store } = server.context
  const user = await store.findUserByEmail(email)
  assert.ok(user)
  const { hash } = passwords
  const chosen = await hash('another long horse', undefined)
  // Between the verification and the upgrade.
  t.mock.method(passwords, 'hash', async (...asked: Parameters<typeof hash>) => {
    await store.setPassword({ id: user.id, passwordHash: chosen, now: server.context.clock(), mails: [] })
    return hash(...asked)
  })
  assert.equal((await signIn(email, VECTOR_PASSWORD)).statusCode, 401)
  assert.equal((await store.findUserByEmail(email))?.passwordHash, chosen)
})

test('an upgrade that fails is logged, and the user is signed in with the previous hash', async (t) => {
  const email = await createForeign(BCRYPT)
  t.mock.method(server.context.store, 'upgradePassword', () =>
    Promise.reject(new StoreUnavailable('The commit takes too long.')),
  )
  assert.equal((await signIn(email, VECTOR_PASSWORD)).statusCode, 303)
  assert.equal((await server.context.store.findUserByEmail(email))?.passwordHash, BCRYPT)
  assert.match(server.log(), /"event":"user.password-upgrade-failed"[^\n]*"reason":"store_unavailable"/)
})

test('IMP-03: each failed sign-in is delayed while hashes of other systems are noted, and no successful one', async (t) => {
  const email = await createForeign(BCRYPT)
  const long = await createForeign(LONG_VECTOR.text)
  await noteForeignHashes(server.context, ['$2b$04', '$2b$08'])
  await noteForeignHashes(server.context, ['$2b$06'])
  server.clock.advance(2000)
  // The first one measures the format.
  await signIn('first@acme.test', 'wrong')
  for (const address of [email, 'nobody@acme.test']) {
    const [ms, answer] = await timed(() => signIn(address, 'wrong'))
    assert.equal(answer.statusCode, 401)
    assert.ok(ms >= 99, `${address}: ${ms} ms`)
  }
  let isDelayed = false
  const { verify } = server.context.passwords
  t.mock.method(server.context.passwords, 'verify', async (...asked: Parameters<typeof verify>) => ({
    ...(await verify(...asked)),
    settled: async () => void (isDelayed = true),
  }))
  assert.equal((await signIn(long, LONG_VECTOR.password)).statusCode, 303)
  assert.ok(!isDelayed)
})

/** Creates an account as an import does. Returns its address. */
async function createForeign(text: string): Promise<string> {
  const read = readForeignHash(text)
  assert.ok(typeof read !== 'string')
  const user = aUser({
    email: `${aHash().toLowerCase()}@acme.test`,
    passwordHash: read.stored,
    notBefore: server.context.clock(),
  })
  assert.equal(await server.context.store.createUser(user), 'created')
  return user.email ?? ''
}

async function signIn(email: string, password: string): Promise<LightMyRequestResponse> {
  const browser = new PlainBrowser(server)
  return browser.submit(await signInPage(browser), { email, password })
}

async function signInPage(browser: PlainBrowser): Promise<LightMyRequestResponse> {
  return browser.get(locationOf(await browser.get(authorizeUrl(client))))
}

/** The formats of the hashes of a user that were replaced. */
async function upgradesOf(userId: UserId | undefined): Promise<readonly unknown[]> {
  const events = eventsOf(await listLinks(server.context.store, 0 as EpochMs))
  const own = events.filter((event) => event.event === 'user.password-upgraded' && event.userId === userId)
  return own.map(({ details }) => details?.['format'])
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [ms: number, T]> {
  const startedAt = performance.now()
  const result = await work()
  return [performance.now() - startedAt, result]
}
