import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { secretName } from '../../src/protocol/sign-in/totp.ts'
import { authorizeUrl, locationOf, PlainBrowser, requestToken } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { addProvider } from '../support/provider/providers.ts'
import { HASH_VECTORS, VECTOR_PASSWORD } from '../support/sign-in/hash-vectors.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { importFile, outcomesOf, writeInput } from './importing.ts'

/** Written by "kc.sh export" of Keycloak 26.4.0, without what no import reads. The passwords are `password of <username>`. */
const REALM = 'test/import/keycloak-realm.json'
const BOARD = { client_id: 'board', client_secret: 'oW9vQ2lBvYh8kq0sS3nE7uT1xZ5cD4fG' }
const REPORTS = { client_id: 'reports', client_secret: 'q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxC' }

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context
await addProvider(server, { issuer: 'https://idp.example' })

/** Whether the person gets past the password. */
async function signIn(at: TestServer, email: string, password: string): Promise<number> {
  const browser = new PlainBrowser(at)
  const client = { client_id: 'board', client_secret: '' }
  const url = authorizeUrl(client, { redirect_uri: 'http://127.0.0.1:9401/cb' })
  const page = await browser.get(locationOf(await browser.get(url)))
  return (await browser.submit(page, { email, password })).statusCode
}

test('Keycloak: users keep id, password, app and identities, organizations their members, clients their id and secret', async (t) => {
  const run = () => importFile(t, server, REALM, { source: KEYCLOAK, providers: new Map([['google', 'idp']]) })
  const first = await run()
  assert.deepEqual(outcomesOf(first), [
    'created',
    'created',
    'created',
    'created',
    'created',
    'skipped part_of_system',
    'skipped part_of_system',
    'created',
    'refused redirect_uri_refused',
    'created',
  ])
  assert.deepEqual(first.counts.dropped, { 'organizations.alias': 1, 'organizations.domains': 1, department: 4 })
  const [member, withApp] = await Promise.all(['ar0@acme.test', 'ar3@acme.test'].map(store.findUserByEmail))
  assert.ok(member && withApp)
  assert.partialDeepStrictEqual(member, {
    name: 'Ada L 0',
    profile: { given_name: 'Ada', family_name: 'L 0', preferred_username: 'ar0', locale: 'de' },
  })
  assert.notEqual(member.emailVerifiedAt, undefined)
  assert.equal(withApp.emailVerifiedAt, undefined)
  assert.equal((await store.listMemberships(member.id)).length, 1)
  assert.equal((await store.listIdentities(withApp.id))[0]?.subject, '109323')
  const app = await store.findSecondFactor(withApp.id)
  const secret = server.context.encryption.decrypt(secretName(withApp.id), app?.secret ?? '')
  assert.equal(secret?.toString(), 'DJmQfC73VGFhw7D4QJ8A')
  assert.equal(await signIn(server, 'ar0@acme.test', 'password of pb0'), 401)
  // The second time with the hash that replaced it.
  for (const name of ['ar0', 'ar0', 'pb0'])
    assert.ok((await signIn(server, `${name}@acme.test`, `password of ${name}`)) < 400, name)
  const machine = await requestToken(server, REPORTS, { grant_type: 'client_credentials' })
  assert.equal(machine.statusCode, 200, machine.body)
  const code = await requestToken(server, BOARD, { grant_type: 'authorization_code', code: 'x', redirect_uri: 'y' })
  assert.equal(code.json<{ error: string }>().error, 'invalid_grant')
  const again = await run()
  assert.deepEqual([...new Set(outcomesOf(again))].toSorted(), [
    'differs',
    'refused redirect_uri_refused',
    'same',
    'skipped part_of_system',
  ])
})

test('Keycloak: a folder of files of users, a temporary password, keys of devices, a disabled account', async (t) => {
  const { users, ...realm } = JSON.parse(readFileSync(REALM, 'utf8')) as { readonly users: readonly object[] }
  const folder = join(temporaryFolder(t), 'out')
  mkdirSync(folder)
  const [one, two, three] = users.map((user, index) => ({
    ...user,
    id: `k-${index}`,
    username: `k${index}`,
    email: `k${index}@acme.test`,
  }))
  const key = { type: 'webauthn', secretData: '{}', credentialData: '{}' }
  writeFileSync(join(folder, 'acme-realm.json'), JSON.stringify({ ...realm, clients: [] }))
  writeFileSync(
    join(folder, 'acme-users-0.json'),
    JSON.stringify({
      realm: 'acme',
      users: [
        { ...one, requiredActions: ['UPDATE_PASSWORD'] },
        { ...two, credentials: [key] },
      ],
    }),
  )
  writeFileSync(join(folder, 'acme-users-10.json'), JSON.stringify({ users: [{ ...three, enabled: false }] }))
  writeFileSync(join(folder, 'acme-users-2.json'), JSON.stringify({ users: [] }))
  const other = await openTestServer(t)
  const options = { source: KEYCLOAK, only: 'users' } as const
  await assert.rejects(importFile(t, other, folder, options), /1 account has a second factor/)
  const { report } = await importFile(t, other, folder, { ...options, mayLoseFactors: true })
  assert.deepEqual(
    report.map(({ id, reason }) => [id, reason]),
    [
      [report[0]?.id, null],
      ['k-0', 'password_not_used identity_dropped needs_link'],
      ['k-1', 'second_factor_lost identity_dropped needs_link'],
      ['k-2', 'identity_dropped'],
    ],
  )
  assert.notEqual((await other.context.store.findUser('k-2' as UserId))?.disabledAt, undefined)
  writeFileSync(join(folder, 'other-realm.json'), '{}')
  await assert.rejects(importFile(t, other, folder, options), /2 realms/)
  await assert.rejects(importFile(t, other, writeInput(t, '[1'), options), /not a JSON document/)
})

test('Keycloak before 8: users keep password and app, whose parts are side by side', async (t) => {
  const password = {
    type: 'password',
    hashedSaltedValue: 'kNwotFPNeuwelpT1HWt+E4ONXFK6wjd+h0zbzNBRGwOqacAjeY7vYN9QZQ46DlEKSdn04cEU/3RvX8WPcRegxg==',
    salt: 'rEIJDbs+BQqpx31v8mONWA==',
    hashIterations: 27_500,
    counter: 0,
    algorithm: 'pbkdf2-sha256',
    digits: 0,
    period: 0,
    config: {},
  }
  const user = (id: string, given: object) => {
    const email = `${id}@acme.test`
    return { id, username: id, email, enabled: true, emailVerified: true, credentials: [{ ...password, ...given }] }
  }
  const users = [user('k903', {}), user('k1', { algorithm: undefined }), user('k2', { hashIterations: undefined })]
  const imported = await importFile(t, server, writeInput(t, JSON.stringify({ users })), { source: KEYCLOAK })
  assert.deepEqual(outcomesOf(imported), [
    'created',
    'created hash_unsupported needs_link',
    'created hash_unsupported needs_link',
  ])
  assert.equal(await signIn(server, 'k903@acme.test', 'password3'), 401)
  assert.ok((await signIn(server, 'k903@acme.test', 'password2')) < 400)
})

test('Keycloak: the time to read a user grows with the organizations, not with their square', (t) => {
  const organizations = Array.from({ length: 20_000 }, (_, id) => ({ id: `o${id}`, members: [{ username: 'ada' }] }))
  const main = writeInput(t, JSON.stringify({ organizations, users: [{ id: 'u', username: 'ada' }] }))
  const start = performance.now()
  const user = [...KEYCLOAK.read({ main, others: {}, switches: new Set() })].at(-1)?.value as {
    readonly organizations: readonly string[]
  }
  assert.equal(user.organizations.length, 20_000)
  // With a copy for each organization it takes 10 s.
  assert.ok(performance.now() - start < 5000)
})

/** As the documentation of Auth0 has its exports. */
function auth0Files(t: Parameters<typeof writeInput>[0]) {
  const lines = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('')
  const users = [
    {
      user_id: 'auth0|5f7c8ec7c33c6c004bbafe82',
      email: 'first@acme.test',
      email_verified: true,
      name: 'First',
      given_name: 'Ada',
      user_metadata: { plan: 'x' },
      identities: [
        { provider: 'auth0', user_id: '5f7c8ec7c33c6c004bbafe82', connection: 'Username-Password-Authentication' },
      ],
    },
    {
      user_id: 'google-oauth2|1093',
      email: 'second@acme.test',
      email_verified: 'true',
      identities: [{ provider: 'google-oauth2', user_id: '1093', connection: 'google-oauth2' }],
      blocked: true,
    },
    {
      user_id: 'waad|x',
      email: 'third@acme.test',
      identities: [{ provider: 'waad', user_id: 'x', connection: 'entra' }],
    },
    { user_id: 'samlp|acme|ada@acme.test', email: 'fourth@acme.test', identities: [] },
    {
      user_id: 'google-oauth2|1094',
      email: 'fifth@acme.test',
      identities: [
        { provider: 'google-oauth2', user_id: '1094', connection: 'google-oauth2' },
        { provider: 'auth0', user_id: '5f7c8ec7c33c6c004bbafe83', connection: 'Username-Password-Authentication' },
      ],
    },
  ]
  const clients = [
    {
      client_id: 'spa',
      name: 'Spa',
      app_type: 'spa',
      callbacks: [
        'https://spa.example/cb',
        'https://*.spa.example/cb',
        'javascript:alert(1)',
        'https://spa.example/#x',
      ],
      grant_types: ['authorization_code', 'implicit'],
      token_endpoint_auth_method: 'none',
    },
    {
      client_id: 'job',
      name: 'Job',
      app_type: 'non_interactive',
      client_secret: 'aVeryLongSecretWith_64-characters',
      grant_types: ['client_credentials'],
    },
    {
      client_id: 'weak',
      name: 'Weak',
      app_type: 'non_interactive',
      client_secret: 'aaaaaaaaaaaaaaaaaaaaaa',
      grant_types: ['client_credentials'],
    },
    { client_id: 'all', name: 'All', global: true },
  ]
  const hashes = [
    { _id: { $oid: '5f7c8ec7c33c6c004bbafe82' }, email: 'first@acme.test', passwordHash: HASH_VECTORS[1]?.text },
    { _id: { $oid: '5f7c8ec7c33c6c004bbafe83' }, passwordHash: HASH_VECTORS[1]?.text },
    { _id: { $oid: '5f7c8ec7c33c6c004bbafe84' }, passwordHash: HASH_VECTORS[1]?.text },
  ]
  return {
    main: writeInput(t, lines(users)),
    others: { hashes: writeInput(t, lines(hashes)), clients: writeInput(t, JSON.stringify(clients)) },
  }
}

test('IMP-08: of Auth0, hashes are joined by id, URIs that cannot be registered are refused one by one, and the others kept', async (t) => {
  const { main, others } = auth0Files(t)
  const secrets = join(temporaryFolder(t), 'secrets')
  const options = { source: AUTH0, others, providers: new Map([['google-oauth2', 'idp']]) }
  const { report, counts } = await importFile(t, server, main, { ...options, isDryRun: true })
  assert.deepEqual(
    report.map(({ source_id: id, reason, detail }) => [id, reason, detail]),
    [
      ['auth0|5f7c8ec7c33c6c004bbafe82', null, undefined],
      ['google-oauth2|1093', null, undefined],
      ['waad|x', 'identity_dropped needs_link', undefined],
      ['samlp|acme|ada@acme.test', 'id_replaced needs_link', undefined],
      ['google-oauth2|1094', 'password_not_used', undefined],
      ['auth0|5f7c8ec7c33c6c004bbafe84', 'user_absent', undefined],
      ['spa', 'member_dropped', 'not taken: grant type implicit'],
      ['spa', 'redirect_uri_refused', 'https://*.spa.example/cb'],
      ['spa', 'redirect_uri_refused', 'javascript:alert(1)'],
      ['spa', 'redirect_uri_refused', 'https://spa.example/#x'],
      ['job', null, undefined],
      ['weak', 'secret_guessable', undefined],
      ['all', 'part_of_system', undefined],
    ],
  )
  assert.deepEqual(counts.dropped, { user_metadata: 1, 'grant type implicit': 1 })
  await importFile(t, server, main, { ...options, secrets })
  const user = await store.findUserByEmail('first@acme.test')
  assert.partialDeepStrictEqual(user, {
    id: 'auth0|5f7c8ec7c33c6c004bbafe82',
    name: 'First',
    profile: { given_name: 'Ada' },
  })
  assert.equal(await signIn(server, 'first@acme.test', VECTOR_PASSWORD), 303)
  const social = await store.findUserByEmail('second@acme.test')
  assert.equal(social?.emailVerifiedAt, undefined)
  assert.notEqual(social?.disabledAt, undefined)
  assert.equal((await store.listIdentities(social?.id as UserId))[0]?.subject, '1093')
  const kept = await requestToken(
    server,
    { client_id: 'job', client_secret: 'aVeryLongSecretWith_64-characters' },
    { grant_type: 'client_credentials' },
  )
  assert.equal(kept.statusCode, 200, kept.body)
  assert.equal(statSync(secrets).mode & 0o777, 0o600)
  const fresh = JSON.parse(readFileSync(secrets, 'utf8')) as typeof BOARD
  assert.equal(fresh.client_id, 'weak')
  assert.equal((await requestToken(server, fresh, { grant_type: 'client_credentials' })).statusCode, 200)
})

test('Auth0: a line of --hashes that has no hash, or a second one, is refused by its number, without its text', async (t) => {
  const hash = HASH_VECTORS[1]?.text
  const hashes = writeInput(
    t,
    [
      JSON.stringify({ _id: { $oid: '5f7c8ec7c33c6c004bbafe90' }, passwordHash: hash }),
      'no JSON V8q2mZr7Lx0Tn4Wb9KcD',
      '',
      JSON.stringify({ passwordHash: hash }),
      JSON.stringify({ _id: { $oid: '5f7c8ec7c33c6c004bbafe91' }, password_hash: hash }),
      JSON.stringify({ _id: { $oid: '5f7c8ec7c33c6c004bbafe90' }, passwordHash: HASH_VECTORS[0]?.text }),
    ].join('\n'),
    'hashes',
  )
  const users = writeInput(t, JSON.stringify({ user_id: 'auth0|5f7c8ec7c33c6c004bbafe90', email: 'line@acme.test' }))
  const imported = await importFile(t, server, users, { source: AUTH0, others: { hashes } })
  assert.deepEqual(
    imported.report.map(({ line, outcome, reason, detail }) => [line, outcome, reason, detail]),
    [
      [1, 'created', null, undefined],
      [2, 'refused', 'hash_line_malformed', undefined],
      [4, 'refused', 'hash_line_malformed', undefined],
      [5, 'refused', 'hash_line_malformed', undefined],
      [6, 'refused', 'record_repeated', 'line 1 of --hashes'],
    ],
  )
  assert.deepEqual(imported.counts.reasons, { hash_line_malformed: 3, record_repeated: 1 })
  for (const text of ['V8q2mZr7Lx0Tn4Wb9KcD', String(hash)]) assert.ok(!imported.text.includes(text))
  assert.equal((await store.findUserByEmail('line@acme.test'))?.passwordHash, hash)
})
