import type { EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSync } from 'bcryptjs'
import { setDomainRules } from '../../../src/admin/domain.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'
import { slowSecretHash } from '../../../src/protocol/client/authentication.ts'
import { chosenClientId } from '../../../src/protocol/client/identifier.ts'
import type { ClientId, UserId } from '../../../src/protocol/ids.ts'
import { APPLICATION, type ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { aGrant, aUser, HOUR } from '../../support/records.ts'
import { noteForeignHashes } from '../../../src/doctor/foreign-hashes.ts'
import { readForeignFormats } from '../../../src/protocol/sign-in/password-formats.ts'
import { DEVICE_CODE } from '../../../src/protocol/token/grant-types.ts'
import { registerClient, requestToken, type RegisteredClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { commandJson, findingsAbout, openServerForCommands, runHere } from '../../support/command.ts'
import { openWebHost, sendJson } from '../../support/hosts/web-host.ts'
import { LONG_VECTOR } from '../../support/sign-in/hash-vectors.ts'
import { openPlace } from '../../support/process.ts'
import { perform } from '../../support/tasks.ts'
import { makeClientKey } from '../../../tools/client-assertion.ts'

const server = await openServerForCommands(WHOLE_FILE, { passwordCosts: 'released' })

function use(client: RegisteredClient) {
  return requestToken(server, client, { grant_type: 'client_credentials' })
}

test('doctor has no finding about clients while there is no client or no database', async (t) => {
  assert.deepEqual(await findingsAbout('clients'), [])
  const { stdout } = await runHere(await openPlace(t), ['doctor', '--json'])
  assert.ok(!stdout.includes('"clients"'))
})

test('CID-03: doctor warns of a user who has the id of a client, and names no other', async () => {
  for (const client_id of ['twin', 'board'])
    await perform(server.context, 'client.create', { client_name: 'Board', client_id })
  const now = server.clock.now()
  for (const id of ['twin', 'ada'])
    await server.context.store.createUser(aUser({ id: id as UserId, createdAt: now, notBefore: now }))
  const [, twins, ...more] = await findingsAbout('clients')
  assert.deepEqual([twins?.[0], more], ['warning', []])
  assert.match(twins?.[1] ?? '', /^One user has the id of a client: twin\. /)
  for (const client_id of ['twin', 'board']) await perform(server.context, 'client.delete', { client_id })
})

test('UI-21: doctor names the accounts that have one address in two spellings, or one that is no address', async () => {
  const now = server.clock.now()
  const made = { createdAt: now, notBefore: now }
  const [older, newer] = [
    aUser({ ...made, id: 'older' as UserId }),
    aUser({ ...made, id: 'newer' as UserId, email: 'anna@bücher.example' }),
  ]
  await server.context.store.createUser(newer)
  assert.deepEqual(await findingsAbout('addresses'), [])
  await server.context.store.createUser({ ...older, email: 'anna@bücher.example' as EmailAddress })
  const [found, ...more] = await findingsAbout('addresses')
  assert.deepEqual([found?.[0], more], ['warning', []])
  assert.match(found?.[1] ?? '', /: anna@bücher\.example \(older and newer\)\./)
  await server.context.store.deleteUser({ id: 'older' as UserId })
  for (const email of ['anna@acme..test', 'anna@.acme.test', 'anna@acme.test..'] as EmailAddress[]) {
    await server.context.store.createUser({ ...older, email })
    const [one] = await findingsAbout('addresses')
    assert.match(one?.[1] ?? '', new RegExp(`: ${RegExp.escape(email)} \\(older\\)\\.$`))
    await server.context.store.deleteUser({ id: 'older' as UserId })
  }
})

test('doctor counts the texts that a language lacks, if there is one in it, and none where a default is', async () => {
  const api = (name: string, sentence: unknown) => ({
    resource: `https://${name}.example`,
    scopes: [{ name: `${name}:read`, sentence, granted_to: 'users' }],
  })
  const made = ['plain', 'german', 'english'].map((name) => `https://${name}.example`)
  await perform(server.context, 'api.create', api('plain', 'Read'))
  assert.deepEqual(await findingsAbout('texts'), [])
  await perform(server.context, 'api.create', api('german', { de: 'Lesen' }))
  const [missing, ...others] = await findingsAbout('texts')
  assert.deepEqual([missing?.[0], others], ['warning', []])
  assert.match(
    missing?.[1] ?? '',
    /^In de, 1 of 2 names of APIs and sentences of scopes are missing: https:\/\/plain\./,
  )
  await perform(server.context, 'api.create', api('english', { en: 'Read' }))
  const found = (await findingsAbout('texts')).map(([, message]) => message.replace(/:.*/, ''))
  assert.deepEqual(found, [
    'In en, 1 of 3 names of APIs and sentences of scopes are missing',
    'In de, 2 of 3 names of APIs and sentences of scopes are missing',
  ])
  for (const resource of made) await perform(server.context, 'api.delete', { resource })
  assert.deepEqual(await findingsAbout('texts'), [])
})

test('CID-04: doctor lists the clients whose secrets still have a slow hash, and warns of those that use one', async () => {
  const { store } = server.context
  const secretHash = slowSecretHash(hashSync('secret', 4))
  const ids = ['unused', 'short', 'fast']
  for (const client_id of ids) {
    await perform(server.context, 'client.create', { client_id, client_name: client_id })
    const made = (await store.findClient(chosenClientId(client_id) as ClientId)) ?? assert.fail()
    await store.deleteClient(made.id)
    await store.createClient(client_id === 'fast' ? made : { ...made, secretHash })
  }
  const waiting = (which: string): readonly [string, string] => [
    'ok',
    `Imported clients have not used their secrets yet, whose hashes are slow ${which}. The first use replaces one, unless the secret is short or easy to guess.`,
  ]
  assert.deepEqual(await findingsAbout('secrets'), [waiting('(2): short, unused')])
  assert.equal((await use({ client_id: 'short', client_secret: 'secret' })).statusCode, 200)
  const stays =
    'Imported clients use secrets that are short or easy to guess, so that their slow hashes stay (1): short.'
  assert.deepEqual(await findingsAbout('secrets'), [waiting('(1): unused'), ['warning', stays]])
  await perform(server.context, 'client.rotate-secret', { client_id: 'short' })
  assert.deepEqual(await findingsAbout('secrets'), [waiting('(1): unused')])
  for (const client_id of ids) await perform(server.context, 'client.delete', { client_id })
})

test('doctor warns when the pool of registered clients is nearly full', async () => {
  process.env['GRANTOR_UNUSED_CLIENTS'] = '1000'
  const { store } = server.context
  const now = server.clock.now()
  const rows: readonly (readonly [ageHours: number, by: number, verdict: string, message: RegExp])[] = [
    [25, 5000, 'ok', /^0 clients registered in the last 24 h, and at most 1000 are kept that have no token yet\.$/],
    [23, 799, 'ok', /^799 clients/],
    [0, 1, 'warning', /^800 clients .* no token yet\.$/],
    [0, 201, 'warning', /^1001 clients .* The oldest are removed earlier\.$/],
  ]
  for (const [ageHours, by, verdict, message] of rows) {
    await store.countRegistrations({ now: (now - ageHours * HOUR) as EpochMs, by })
    const [found, ...more] = await findingsAbout('registrations')
    assert.deepEqual([found?.[0], more], [verdict, []])
    assert.match(found?.[1] ?? '', message)
  }
  delete process.env['GRANTOR_UNUSED_CLIENTS']
})

test('doctor reports, by id, clients in use that could no longer register', async () => {
  const blocked = await registerClient(server, { redirect_uris: ['https://app.bad.example/cb'] })
  const registered = [await registerClient(server), await registerClient(server)]
  await registerClient(server)
  const made = await commandJson<RegisteredClient>(['client', 'create', '--name', 'Nightly'])
  for (const client of [blocked, ...registered, made]) await use(client)
  const open = 'Of the newest 5 clients, each one in use would be accepted again today, unless its domain is blocked.'
  assert.deepEqual(await findingsAbout('clients'), [['ok', open]])
  await setDomainRules(server.context, ['*.bad.example'], { verdict: 'blocked', note: undefined })
  const stale = `Of the newest 5 clients, 1 in use have a blocked domain, and their tokens stay valid: ${blocked.client_id}.`
  assert.deepEqual(await findingsAbout('clients'), [
    ['ok', open],
    ['warning', stale],
  ])
  process.env['GRANTOR_REGISTRATION'] = 'closed'
  // Newest first. The ids of one millisecond have no other order than their own.
  const [other, one] = registered.map(({ client_id }) => client_id).toSorted()
  const late = `Of the newest 5 clients, 2 in use would not be accepted again today, but stay usable: ${one}, ${other}.`
  assert.deepEqual(await findingsAbout('clients'), [
    ['ok', late],
    ['warning', stale],
  ])
  delete process.env['GRANTOR_REGISTRATION']
})

test('doctor warns of clients that may omit PKCE and the nonce', async () => {
  const about = async () => (await findingsAbout('clients')).filter(([, message]) => message.includes('PKCE'))
  assert.deepEqual(await about(), [])
  const redirect = ['--redirect-uri', 'https://wiki.example.com/auth']
  const wiki = await commandJson<RegisteredClient>([
    'client',
    'create',
    '--name',
    'Wiki',
    ...redirect,
    '--pkce',
    'optional',
  ])
  assert.deepEqual(await about(), [
    ['warning', `Of the newest 6 clients, 1 may omit PKCE and the nonce: ${wiki.client_id}.`],
  ])
  await commandJson(['client', 'set-rules', wiki.client_id, '--consent', 'asked', '--pkce', 'nonce'])
  assert.deepEqual(await about(), [])
})

test('doctor warns if the device grant is on and no client has it', async () => {
  assert.deepEqual(await findingsAbout('devices'), [])
  process.env['GRANTOR_DEVICE_GRANT'] = 'on'
  assert.deepEqual(await findingsAbout('devices'), [
    ['warning', 'The device grant is on. Of the newest 6 clients, none has it.'],
  ])
  const cli = await commandJson<RegisteredClient>([
    'client',
    'create',
    '--name',
    'CLI',
    '--auth-method',
    'none',
    '--grant-type',
    DEVICE_CODE,
    '--grant-type',
    'refresh_token',
  ])
  assert.deepEqual(cli['grant_types'], [DEVICE_CODE, 'refresh_token'])
  assert.deepEqual(await findingsAbout('devices'), [
    ['ok', `Of the newest 7 clients, 1 can connect devices: ${cli.client_id}.`],
  ])
  delete process.env['GRANTOR_DEVICE_GRANT']
  assert.deepEqual(await findingsAbout('devices'), [])
  const { store, clock } = server.context
  const user = aUser()
  const identity = anIdentity({ userId: user.id, providerId: APPLICATION })
  await store.provisionUser({ user, identity })
  const [clientId, expiresAt] = [cli.client_id as ClientId, after(clock(), HOUR)]
  const ofDevice = {
    userId: user.id,
    clientId,
    redirectHost: undefined,
    createdAt: clock(),
    expiresAt,
    family: undefined,
  }
  for (const differing of [
    {},
    { expiresAt: clock() },
    { providerId: 'idp' as ProviderId },
    { redirectHost: 'a.example' },
  ])
    await store.openGrant({ grant: aGrant({ ...ofDevice, ...differing }), identity: identity.key })
  assert.deepEqual(await findingsAbout('devices'), [
    ['warning', `The device grant is off. Of the newest 4 grants, 1 of devices are active and go on: ${clientId}.`],
  ])
  await perform(server.context, 'client.revoke-tokens', { client_id: clientId })
  server.clock.advance(1000)
})

test('doctor fails for a client of the profile fapi2 whose keys cannot be fetched', async () => {
  let answer: unknown = { keys: [makeClientKey('ES256').jwk] }
  const host = await openWebHost(WHOLE_FILE, {}, (request, response) => sendJson(answer)(request, response))
  const bank = await perform<RegisteredClient>(server.context, 'client.create', {
    client_name: 'Bank',
    redirect_uris: ['https://bank.example/cb'],
    jwks_uri: `http://localhost:${host.port}/keys.json`,
    id_token_signed_response_alg: 'ES256',
  })
  assert.deepEqual(await findingsAbout('client-keys'), [])
  await perform(server.context, 'client.set-rules', { client_id: bank.client_id, consent: 'asked', profile: 'fapi2' })
  assert.deepEqual(await findingsAbout('client-keys'), [
    ['ok', `The keys of the client ${bank.client_id} can be fetched.`],
  ])
  for (const keys of [[], [makeClientKey('ES384').jwk]]) {
    answer = { keys }
    const [[verdict, message] = []] = await findingsAbout('client-keys')
    assert.equal(verdict, 'failed')
    assert.match(message ?? '', new RegExp(`${bank.client_id}.*keys.json cannot be used: it is no set of usable keys`))
  }
})

test('doctor --deep counts the hashes of other systems, and ends the delay when none is left an hour after the import', async () => {
  const { passwords, store } = server.context
  const now = server.clock.now()
  const noted = (ageHours: number): Promise<void> =>
    noteForeignHashes({ store, clock: () => (now - ageHours * HOUR) as EpochMs }, ['$2b$10'])
  assert.deepEqual(await findingsAbout('passwords', '--deep'), [])
  const user = aUser({ passwordHash: LONG_VECTOR.text, createdAt: now })
  await store.createUser(user)
  await noted(2)
  const left = 'Users have password hashes of other systems: 1 of bcrypt.'
  const none = 'No user has a password hash of another system.'
  const delayed = 'Until all are replaced, failed sign-ins are delayed.'
  assert.deepEqual(await findingsAbout('passwords', '--deep'), [['ok', `${left} ${delayed}`]])
  assert.match((await findingsAbout('passwords'))[0]?.[1] ?? '', /are delayed, .* "grantor doctor --deep" counts them/)
  const passwordHash = await passwords.hash('correct horse battery', undefined)
  await store.upgradePassword({ id: user.id, previousHash: LONG_VECTOR.text, passwordHash, format: 'bcrypt' })
  await noted(0)
  const early = 'Failed sign-ins are delayed until "grantor doctor --deep" runs an hour after the import.'
  assert.deepEqual(await findingsAbout('passwords', '--deep'), [['ok', `${none} ${early}`]])
  assert.deepEqual(readForeignFormats(await store.findPasswordFormats()).costs, ['$2b$10'])
  await noted(2)
  assert.deepEqual(await findingsAbout('passwords', '--deep'), [
    ['ok', `${none} Failed sign-ins are no longer delayed.`],
  ])
  assert.deepEqual(readForeignFormats(await store.findPasswordFormats()).costs, [])
  assert.deepEqual(await findingsAbout('passwords', '--deep'), [])
})
