import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError } from '../../src/admin/admin-error.ts'
import { EMAIL, obtainTokens, PASSWORD, requestToken, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import { execute } from '../support/store/dump.ts'
import { aSession, aSessionStart, aUserOfProvider } from '../support/records.ts'
import { givePasskey } from '../../tools/sign-in/passkeys.ts'
import { storeApp } from '../support/sign-in/stored-app.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import type { Members } from '../support/tasks.ts'
import { assertRefused, openOffice } from './office.ts'

interface List {
  readonly users: readonly Members[]
  readonly grants: readonly Members[]
  readonly next: string | null
}

/** What "user show" adds for a user without a provider, an app and passkeys. */
const NEVER_SIGNED_IN = { state: 'never-signed-in', state_until: null, reach: 'account' }
const NOTHING_ELSE = {
  identities: [],
  is_address_doubtful: false,
  authenticator_app: null,
  organizations: [],
  passkeys: [],
  role: null,
  link: null,
}
const BY_PASSWORD = { ways: ['password'], second_step: null, obstacles: [] }

test('a user is found by id or by address in any case, and no answer has the hash of the password', async (t) => {
  const { perform } = await openOffice(t)
  const made = await perform('user.create', { email: ' Bob@Acme.test', password: PASSWORD, name: 'Bob' })
  assert.equal(made['email'], 'bob@acme.test')
  assert.deepEqual(await perform('user.show', { user_id: made['user_id'] }), {
    ...made,
    ...NEVER_SIGNED_IN,
    ...NOTHING_ELSE,
    sign_in: BY_PASSWORD,
  })
  assert.deepEqual((await perform<List>('user.list', { email: 'BOB@acme.TEST' })).users, [
    { ...made, ...NEVER_SIGNED_IN, organizations: [] },
  ])
  assert.deepEqual((await perform<List>('user.list', { email: 'nobody@acme.test' })).users, [])
  assert.doesNotMatch(JSON.stringify(made), /argon2/)
  await assertRefused(perform('user.create', { email: 'bob@acme.test', password: PASSWORD }), 'conflict', /already/)
})

test('PWD-01: NIST SP 800-63B-4 §3.1.1.2: a task sets no password that is short, long, common or of the account', async (t) => {
  const { perform } = await openOffice(t)
  const bob = { email: 'bob.brown@acme.test', name: 'Robert Brown' }
  const { user_id } = await perform('user.create', { ...bob, password: PASSWORD })
  const refused = [
    ['too_short', { min_length: 15 }, 'four words, up'],
    ['too_long', { max_bytes: 1024 }, 'é'.repeat(513)],
    ...[
      'bob.brown123456',
      'Robert Brown 1999',
      'Grantor-Grantor-1',
      'localhost-1234567',
      'liverpool 1999 !',
      'aaaabbbbccccdddd',
    ].map((password) => ['password_common', {}, password] as const),
  ] as const
  for (const [type, ctx, password] of refused) {
    const isFault = (cause: unknown): boolean => {
      assert.ok(cause instanceof AdminError && !cause.message.includes(password))
      assert.match(cause.message, /Four words/)
      assert.partialDeepStrictEqual(cause.problems, [{ loc: ['body', 'password'], type, ctx, input: null }], password)
      return true
    }
    await assert.rejects(perform('user.set-password', { user_id, password }), isFault)
    await assert.rejects(perform('user.create', { ...bob, email: 'bob.brown@beta.test', password }), isFault)
  }
  assert.deepEqual((await perform<List>('user.list', { email: 'bob.brown@beta.test' })).users, [])
  for (const password of ['four words, ups', 'x'.repeat(1019) + 'abcde'])
    await perform('user.set-password', { user_id, password })
})

test('a user is created with a profile and an address that is known to be the user’s', async (t) => {
  const { perform } = await openOffice(t)
  const profile = { preferred_username: 'ada', locale: 'en-GB', address: { country: 'GB' } }
  const made = await perform('user.create', { email: 'ada2@acme.test', email_verified: true, profile })
  assert.deepEqual([made['profile'], made['email_verified_at']], [profile, made['created_at']])
  assert.partialDeepStrictEqual(await perform('user.show', { user_id: made['user_id'] }), { ...made, ...NOTHING_ELSE })
  for (const [wrong, message] of [
    [{ phone_number_verified: true }, /needs phone_number/],
    [
      { given_name: 'x'.repeat(1024), family_name: 'x'.repeat(1024), nickname: '\u0001'.repeat(1024) },
      /at most 8192 bytes/,
    ],
  ] as const)
    await assertRefused(perform('user.create', { email: 'bob@acme.test', profile: wrong }), 'refused', message)
  assert.equal((await perform('user.create', { email: 'bob@acme.test' }))['email_verified_at'], null)
})

test('a user without an address and a password is shown, and named by name or id', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { store } = stage.server.context
  const [named, nameless] = [aUserOfProvider({ name: 'Grace' }), aUserOfProvider({ name: undefined })]
  for (const user of [named, nameless]) await store.createUser(user)
  const shown = await perform('user.show', { user_id: named.id })
  assert.partialDeepStrictEqual(shown, { email: null, has_password: false, first_signed_in_at: null, name: 'Grace' })
  const { users } = await perform<List>('user.list', {})
  assert.deepEqual(users.map(({ user_id }) => user_id).filter((id) => id === named.id || id === nameless.id).length, 2)
  const { organization_id } = await stage.makePeopledOrganization()
  for (const [{ id }, name] of [
    [named, 'a user named "Grace"'],
    [nameless, nameless.id],
  ] as const) {
    await perform('member.add', { organization_id, user_id: id })
    const again = perform('member.add', { organization_id, user_id: id })
    await assertRefused(again, 'conflict', new RegExp(`^${name} is already a member`))
    assert.partialDeepStrictEqual(await perform('user.delete', { user_id: id }), { email: null, deleted: true })
  }
})

test('ACC-10: another address of a user is unverified, keeps sessions and grants, and is refused where another user has it', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { server } = stage
  const client = await stage.makeClient()
  const tokens = await obtainTokens(server, client)
  const { email: taken } = await stage.makeUser()
  const [ada] = (await perform<List>('user.list', { email: EMAIL })).users
  const key = { user_id: ada?.['user_id'] }
  await assertRefused(perform('user.set-email', { ...key, email: taken }), 'conflict', /already/)
  await assertRefused(perform('user.set-email', { ...key, email: 'x' }), 'refused', /not an e-mail address/)
  const changed = await perform('user.set-email', { ...key, email: 'Ada@Other.test', verified: true })
  assert.partialDeepStrictEqual(changed, { email: 'ada@other.test', not_before: ada?.['not_before'] })
  assert.notEqual(changed['email_verified_at'], null)
  const again = await perform('user.set-email', { ...key, email: 'ada@third.test' })
  assert.equal(again['email_verified_at'], null)
  const refreshed = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' }
  assert.equal((await requestToken(server, client, refreshed)).statusCode, 200)
})

test('a link is created for an enabled user with an address, while passwords are on or passkeys are offered', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { store } = stage.server.context
  const user = aUserOfProvider()
  await store.createUser(user)
  await assertRefused(perform('user.create-link', { user_id: user.id }), 'conflict', /has no e-mail address/)
  const { id, email } = await stage.makeUser()
  await perform('user.disable', { user_id: id })
  await assertRefused(perform('user.create-link', { user_id: id }), 'conflict', new RegExp(`${email} is disabled`))
  // Browsers make passkeys for a name, and none for an address.
  for (const host of ['localhost', '127.0.0.1']) {
    const off = await openOffice(t, { GRANTOR_PASSWORDS: 'off', GRANTOR_ISSUER: `http://${host}:3000` })
    const [ada] = (await off.perform<List>('user.list', { email: EMAIL })).users
    const link = off.perform('user.create-link', { user_id: ada?.['user_id'] })
    if (host === 'localhost') assert.ok(await link)
    else await assertRefused(link, 'conflict', /GRANTOR_PASSWORDS is off/)
  }
})

test('an app that a user has lost is removed with its codes, ends the sessions and keeps the grants', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { server } = stage
  const client = await stage.makeClient()
  const { refresh_token = '' } = await obtainTokens(server, client)
  const [ada] = (await perform<List>('user.list', { email: EMAIL })).users
  const userId = ada?.['user_id'] as UserId
  const key = { user_id: userId }
  const show = async () => (await perform('user.show', key))['authenticator_app']
  const sessions = async () => (await perform<{ readonly sessions: readonly Members[] }>('session.list', key)).sessions
  assert.equal(await show(), null)
  await assertRefused(perform('user.reset-second-factor', key), 'conflict', /has no authenticator app/)
  assert.equal((await sessions()).length, 1)
  await storeApp(server.context, userId)
  assert.partialDeepStrictEqual(await show(), { used_at: null, recovery_codes: 10, is_locked: false })
  const { passwordHash } = (await server.context.store.findUser(userId)) ?? {}
  const session = aSession({ userId, createdAt: server.context.clock() })
  await server.context.store.startSession(aSessionStart({ session, passwordHash, isSecondStepDone: true }))
  assert.equal((await sessions()).length, 1)
  assert.partialDeepStrictEqual(await perform('user.reset-second-factor', key), { ...key, email: EMAIL })
  assert.equal(await show(), null)
  assert.deepEqual(await sessions(), [])
  const refreshed = await requestToken(server, client, { grant_type: 'refresh_token', refresh_token })
  assert.equal(refreshed.statusCode, 200)
})

test('PK-01: passkeys are listed without their keys, and only one of the named user is removed, which ends the sessions', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { store, clock } = stage.server.context
  const [ada, bob] = [await stage.makeUser(), await stage.makeUser()]
  const agent = { browser: 'Firefox', system: 'Linux' } as const
  const { passkey } = await givePasskey(stage.server, ada.id, { agent })
  const { passkey: other } = await givePasskey(stage.server, bob.id)
  const key = { user_id: ada.id }
  const list = async () =>
    (await perform<{ readonly passkeys: readonly Members[] }>('user.list-passkeys', key)).passkeys
  const added_at = new Date(passkey.createdAt).toISOString()
  const document = { passkey_id: passkey.id, ...agent, is_synced: passkey.isBackedUp, added_at, used_at: null }
  assert.deepEqual(await list(), [document])
  assert.deepEqual((await perform('user.show', key))['passkeys'], [document])
  const session = aSession({ userId: ada.id, createdAt: clock() })
  assert.equal((await store.startSession(aSessionStart({ session, passwordHash: undefined }))).kind, 'started')
  const remove = (passkey_id: string, user_id: string = ada.id) =>
    perform('user.remove-passkey', { user_id, passkey_id })
  await assertRefused(remove(other.id), 'unknown', /has no passkey \S{22}\. See "grantor user list-passkeys"/)
  await assertRefused(remove(passkey.id, aUserOfProvider().id), 'unknown', /There is no user/)
  await assertRefused(remove('x'), 'refused', /not the id of a passkey/)
  assert.equal((await store.listSessions({ userId: ada.id, before: undefined, limit: 5 })).length, 1)
  assert.partialDeepStrictEqual(await remove(passkey.id), key)
  assert.deepEqual([await list(), (await store.listPasskeys(bob.id)).length], [[], 1])
  assert.deepEqual(await store.listSessions({ userId: ada.id, before: undefined, limit: 5 }), [])
  await assertRefused(remove(passkey.id), 'unknown', /has no passkey/)
})

test('sessions are listed for a user or for all, and ended', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { server } = stage
  await obtainTokens(server, await stage.makeClient())
  const guest = aUserOfProvider()
  await server.context.store.createUser(guest)
  const other = aSessionStart({ session: aSession({ userId: guest.id }), passwordHash: undefined })
  await server.context.store.startSession(other)
  const [ada] = (await perform<List>('user.list', { email: EMAIL })).users
  const list = (input: Members) => perform<{ readonly sessions: readonly Members[] }>('session.list', input)
  assert.equal((await list({})).sessions.length, 2)
  const [session] = (await list({ user_id: ada?.['user_id'] })).sessions
  assert.partialDeepStrictEqual(session, { user_id: ada?.['user_id'], methods: ['pwd'], browser: null })
  assert.doesNotMatch(JSON.stringify(session), /hash/)
  const key = { session_id: session?.['session_id'] }
  assert.deepEqual(await perform('session.end', key), session)
  assert.deepEqual(
    (await list({})).sessions.map(({ session_id }) => session_id),
    [other.session.id],
  )
})

test('with GRANTOR_PASSWORDS=off no user gets a password', async (t) => {
  const { perform } = await openOffice(t, { GRANTOR_PASSWORDS: 'off' })
  const off = /because GRANTOR_PASSWORDS is off/
  await assertRefused(perform('user.create', { email: 'bob@acme.test', password: PASSWORD }), 'conflict', off)
  const { user_id } = await perform('user.create', { email: 'bob@acme.test' })
  await assertRefused(perform('user.set-password', { user_id, password: PASSWORD }), 'conflict', off)
})

test('ADM-09: revoking the tokens of a user or deleting the user makes the tokens inactive, and the address can be used again', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { server } = stage
  const [client, another] = [await stage.makeClient(), await stage.makeClient()]
  const refresh = async (of: RegisteredClient, { refresh_token = '' }: Tokens): Promise<number> =>
    (await requestToken(server, of, { grant_type: 'refresh_token', refresh_token })).statusCode
  const [ada] = (await perform<List>('user.list', { email: EMAIL })).users
  const key = { user_id: ada?.['user_id'] }
  const first = await obtainTokens(server, client)
  server.clock.advance(1000)
  const expired = await perform('user.revoke-tokens', key)
  assert.ok(String(expired['not_before']) > String(ada?.['not_before']))
  assert.equal(await refresh(client, first), 400)
  server.clock.advance(1000)
  const second = await obtainTokens(server, another)
  const inspect = (token: string) => perform('token.inspect', { token })
  assert.equal((await inspect(second.access_token))['active'], true)
  assert.partialDeepStrictEqual(await perform('user.delete', key), { ...key, email: EMAIL, deleted: true })
  assert.equal(await refresh(another, second), 400)
  assert.equal((await inspect(second.access_token))['active'], false)
  const again = await perform('user.create', { email: EMAIL, password: PASSWORD })
  assert.notEqual(again['user_id'], ada?.['user_id'])
})

test('grants are listed by filter, newest first and without secrets, and a revoked grant ends its tokens', async (t) => {
  const { perform, stage } = await openOffice(t)
  const here = await stage.makePeopledOrganization()
  const there = await stage.makePeopledOrganization()
  const list = (filter: Members) => perform<List>('grant.list', filter)
  const ids = async (filter: Members): Promise<readonly unknown[]> =>
    (await list(filter)).grants.map((grant) => grant['grant_id'])
  assert.deepEqual(await ids({}), [there.grant_id, here.grant_id])
  assert.deepEqual(await ids({ organization_id: here.organization_id }), [here.grant_id])
  assert.deepEqual(await ids({ client_id: there.client_id }), [there.grant_id])
  assert.deepEqual(await ids({ user_id: here.user_id, organization_id: there.organization_id }), [])
  const page = await list({ limit: 1 })
  assert.equal(page.next, there.grant_id)
  assert.deepEqual(await ids({ before: page.next }), [here.grant_id])
  const { names, reach, ...shown } = await perform('grant.show', { grant_id: here.grant_id })
  assert.deepEqual(Object.values(names as Readonly<Record<string, string>>).toSorted(), [
    'Acme',
    'Client 1',
    'person-2@acme.test',
  ])
  const { names: _, ...newest } = await perform('grant.show', { grant_id: there.grant_id })
  assert.deepEqual(page.grants[0], newest)
  assert.equal(reach, 'account')
  assert.doesNotMatch(JSON.stringify(shown), /hash|token/i)
  const revoked = await perform('grant.revoke', { grant_id: here.grant_id })
  assert.partialDeepStrictEqual({ ...revoked, revoked_at: null, inactive_reason: null }, shown)
  assert.notEqual(revoked['revoked_at'], null)
})

const RESOURCE = 'https://api.acme.test'
const READ = { name: 'read', sentence: 'Read', granted_to: 'users' }

test('a page of the grants of a client examines a bounded number of grants, and the next page continues after them', async (t) => {
  const { perform, stage } = await openOffice(t)
  execute(
    stage.server,
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < 10999)
     insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
     select printf('ff%032d', i), 'gci_other', 'gus_', '', '[]', 0, 1 from n`,
  )
  const { client_id, grant_id } = await stage.makePeopledOrganization()
  const first = await perform<List>('grant.list', { client_id })
  assert.deepEqual(first, { grants: [], names: {}, next: `ff${'1000'.padStart(32, '0')}` })
  const second = await perform<List>('grant.list', { client_id, before: first.next })
  assert.deepEqual([second.grants.map((grant) => grant['grant_id']), second.next], [[grant_id], null])
})

test('CC-05: declaring a scope that another API has gives a notice', async (t) => {
  const { perform, stage } = await openOffice(t)
  const list = { name: 'list', sentence: 'List files', granted_to: 'users' }
  const first = await perform('api.create', { resource: RESOURCE, scopes: [READ], tokens: { algorithm: 'RS256' } })
  assert.doesNotMatch(String(first['notice']), /another API/)
  const other = await perform('api.create', { resource: 'https://files.test', scopes: [list] })
  assert.equal(other['notice'], null)
  const more = await perform('api.update', { resource: 'https://files.test', scopes: [list, READ] })
  assert.equal(
    more['notice'],
    `Another API has the same scope: ${READ.name} (${RESOURCE}). Clients have to name the API (resource), and a consent for both APIs allows the scope at both. Give each API scope names of its own.`,
  )
  const again = await perform('api.update', { resource: RESOURCE, name: 'Acme' })
  assert.match(String(again['notice']), /first RS256 key [^]* Another API has the same scope/)
  stage.server.clock.advance(11 * 60_000)
  const later = await perform('api.update', { resource: RESOURCE, name: 'Acme', tokens: { algorithm: 'RS256' } })
  assert.match(String(later['notice']), /^Another API has the same scope/, 'The RS256 key signs already.')
})

test('an API is changed member by member, and a member that is not given does not change', async (t) => {
  const { perform } = await openOffice(t)
  const made = await perform('api.create', {
    resource: RESOURCE,
    name: 'Acme',
    scopes: [READ],
    tokens: { lifetime: 60 },
  })
  const { notice: _, ...api } = made
  assert.deepEqual(api['tokens'], {
    format: 'jwt',
    lifetime: 60,
    algorithm: null,
    jwt_type: 'at+jwt',
    application_subject: false,
    binding: 'any',
  })
  assert.deepEqual(await perform('api.show', { resource: `${RESOURCE}/` }), api)
  const update = async (change: Members): Promise<Members> => {
    const { notice: __, ...changed } = await perform('api.update', { resource: RESOURCE, ...change })
    return changed
  }
  assert.deepEqual(await update({ name: '' }), { ...api, name: null })
  const scopes = [{ name: 'pay', sentence: 'Pay', granted_to: 'approved-clients' }]
  const shown = scopes.map((scope) => ({ ...scope, step_up: null }))
  assert.deepEqual(await update({ scopes, name: 'Acme' }), { ...api, scopes: shown })
  const common = { lifetime: 60, jwt_type: 'at+jwt', application_subject: false, binding: 'any' }
  const signed = { ...common, format: 'jwt', algorithm: 'RS256' }
  const updated = await perform('api.update', { resource: RESOURCE, tokens: { algorithm: 'RS256' } })
  assert.deepEqual(updated['tokens'], signed)
  assert.match(String(updated['notice']), /first RS256 key is published for ten minutes/)
  assert.deepEqual((await update({ tokens: { jwt_type: 'JWT' } }))['tokens'], { ...signed, jwt_type: 'JWT' })
  const opaque = { ...common, format: 'opaque', algorithm: null }
  assert.deepEqual((await update({ tokens: { format: 'opaque' } }))['tokens'], opaque)
  assert.deepEqual((await update({ tokens: { lifetime: null } }))['tokens'], { ...opaque, lifetime: null })
  const wrong = perform('api.update', { resource: RESOURCE, tokens: { algorithm: 'ES256' } })
  await assertRefused(wrong, 'conflict', /Opaque tokens are not signed/)
  const typed = perform('api.update', { resource: RESOURCE, tokens: { jwt_type: 'JWT' } })
  await assertRefused(typed, 'conflict', /Opaque tokens are not JWTs/)
  await assertRefused(perform('api.create', { resource: RESOURCE }), 'conflict', /already declared/)
})
