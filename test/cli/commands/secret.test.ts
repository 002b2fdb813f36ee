import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { verifyAudit } from '../../../src/admin/audit/verify.ts'
import { readConfig } from '../../../src/config/config.ts'
import { previousSecretPath, renewRootSecret } from '../../../src/keys/root-secret.ts'
import { auditLinkParts } from '../../../src/protocol/audit/audit-link.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'
import { openSecrets } from '../../../src/protocol/secrets.ts'
import { backUp } from '../../../src/maintenance/backup.ts'
import { replaceLeakedSecret, rotateSecret } from '../../../src/maintenance/rotate-secret.ts'
import { openRuntime } from '../../../src/server/context.ts'
import { takeServerLock } from '../../../src/store/sqlite/file/server-lock.ts'
import { placeBlankDatabase } from '../../support/store/blank-database.ts'
import { runHere } from '../../support/command.ts'
import {
  authorizeUrl,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { refuseFormerApp } from '../../support/sign-in/apps.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openPlace, serve, untilLogged, type Finished, type Place } from '../../support/process.ts'
import { openTestServer, temporaryFolder, type TestClock, type TestServer } from '../../support/server.ts'
import { declareApi, knowApis, OPAQUE_API } from '../../support/apis.ts'
import { introspect, isActive } from '../../support/token-questions.ts'

type Environment = Readonly<Record<string, string>>

/** A store, and the servers and commands that use it. */
interface Deployment {
  /** Opens a server. On SQLite, where only one server uses a file, the server that was opened before is closed first. */
  readonly open: (environment?: Environment, clock?: TestClock) => Promise<TestServer>
  readonly run: (words: readonly string[], environment?: Environment) => Promise<Finished>
  /** How the new secret is configured, for the commands and the servers after the change. */
  readonly hasNodes: boolean
  readonly changing: Environment
  readonly changed: Environment
}

/** Shows the page, although a consent is remembered. */
const ASK = { prompt: 'consent' }
const BOB = 'bob@acme.test'
const OLD = 'the old root secret, of 32 characters'
const NEW = 'the new root secret, of 32 characters'

const DEPLOYMENTS: readonly (readonly [string, (t: TestContext) => Promise<Deployment>])[] = [
  ['SQLite, with the secret in a file', openFileDeployment],
  ['PostgreSQL, with the secret in the environment', openPostgresDeployment],
]

async function openFileDeployment(t: TestContext): Promise<Deployment & { readonly folder: string }> {
  const folder = temporaryFolder(t)
  placeBlankDatabase(join(folder, 'grantor.db'))
  return { ...deploymentOf(t, folder, { DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}` }), folder }
}

async function openPostgresDeployment(t: TestContext): Promise<Deployment> {
  const environment = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: OLD }
  return {
    ...deploymentOf(t, temporaryFolder(t), environment),
    changing: { GRANTOR_SECRET: NEW, GRANTOR_SECRET_PREVIOUS: OLD },
    changed: { GRANTOR_SECRET: NEW },
  }
}

function deploymentOf(t: TestContext, folder: string, environment: Environment): Deployment {
  const place = { environment } as unknown as Place
  const hasNodes = !environment['DATABASE_URL']?.startsWith('sqlite:')
  let opened: TestServer | undefined
  return {
    hasNodes,
    async open(more = {}, clock) {
      if (!hasNodes) await opened?.close()
      const options = { folder, env: { ...environment, ...more } }
      return (opened = await openTestServer(t, clock === undefined ? options : { ...options, clock }))
    },
    run: (words, more = {}) => runHere(place, words, { environment: more }),
    changing: {},
    changed: {},
  }
}

for (const [name, openDeployment] of DEPLOYMENTS) {
  test(`STO-12, ${name}: the root secret changes while tokens are refreshed, and nothing ends`, async (t) => {
    const { open, run, changing, changed, hasNodes } = await openDeployment(t)
    const server = await open()
    await createAda(server)
    const client = await registerClient(server)
    const api = await declareApi(server, OPAQUE_API, { format: 'opaque' })
    knowApis(server)
    const browser = new PlainBrowser(server)
    await signInAndAllow(browser, authorizeUrl(client))
    const code = await obtainCode(server, client, ASK)
    const opaque = await obtainTokens(server, client, { ...ASK, resource: OPAQUE_API })
    let { refresh_token: token = '' } = await obtainTokens(server, client, ASK)
    const admin = (await run(['admin', 'create', '--name', 'x', '--access', 'read', '--json'])).stdout
    const refreshTen = async (at: TestServer): Promise<void> => {
      for (let round = 1; round <= 10; round += 1) {
        const response = await refresh(at, client, token)
        assert.equal(response.statusCode, 200, response.body)
        token = response.json<Tokens>().refresh_token ?? ''
      }
    }
    const [rotated] = await Promise.all([run(['secret', 'rotate'], changing), refreshTen(server)])
    assert.equal(rotated.code, 0, rotated.stderr)
    await refreshTen(server)
    const next = await open(changed)
    await refreshTen(next)
    if (hasNodes) await refreshTen(server)
    assert.equal((await redeem(next, client, code)).statusCode, 200)
    assert.equal((await requestToken(next, client, { grant_type: 'client_credentials' })).statusCode, 200)
    assert.equal((await readRegistration(next, client)).statusCode, 200)
    assert.equal(await isActive(next, api, opaque.access_token), true)
    assert.equal((await listClients(next, admin)).statusCode, 200)
    const silent = new PlainBrowser(next)
    for (const [cookie, value] of browser.cookies) silent.cookies.set(cookie, value)
    const answer = await silent.get(authorizeUrl(client, { prompt: 'none' }))
    assert.match(String(answer.headers.location), /[?&]code=/)
    assert.deepEqual((await verifyAudit(next.context, [])).faults, [])
    const report = await run(['doctor'], changed)
    assert.match(report.stdout, /root secret in \S+ belongs to the database\.\n/)
  })

  test(`STO-12, OTP-07, ${name}: a leaked root secret ends everything that was issued, and users and clients can start again`, async (t) => {
    const { open, run, changing, changed } = await openDeployment(t)
    const server = await open()
    await createAda(server)
    const client = await registerClient(server)
    const shared = await registerClient(server, { token_endpoint_auth_method: 'none' })
    const api = await declareApi(server, OPAQUE_API, { format: 'opaque' })
    knowApis(server)
    const browser = new PlainBrowser(server)
    await signInAndAllow(browser, authorizeUrl(client))
    const code = await obtainCode(server, client, ASK)
    const opaque = await obtainTokens(server, client, { ...ASK, resource: OPAQUE_API })
    const jwt = await obtainTokens(server, client, ASK)
    const admin = (await run(['admin', 'create', '--name', 'Ada at work', '--access', 'write', '--json'])).stdout
    await createAccount(server, { email: BOB, password: PASSWORD, name: 'Bob' })
    const app = await addApp(server, BOB)
    await server.context.keys.ensureIdTokenKey('EdDSA')
    const before = await server.context.store.listKeys()
    await server.close()

    const unconfirmed = await run(['secret', 'rotate', '--leaked'], changing)
    assert.deepEqual([unconfirmed.code, /add --yes/.test(unconfirmed.stderr)], [2, true])
    const replaced = await run(['secret', 'rotate', '--leaked', '--yes'], changing)
    assert.equal(replaced.code, 0, replaced.stderr)
    assert.match(replaced.stdout, /the API https:\/\/opaque\.example: grantor api create-credentials/)
    assert.match(replaced.stdout, /the administrator Ada at work/)

    const next = await open(changed)
    const keys = await next.context.store.listKeys()
    assert.deepEqual(keys.map(({ purpose, algorithm }) => `${purpose} ${algorithm}`).toSorted(), [
      'access ES256',
      'id EdDSA',
    ])
    assert.ok(!keys.some(({ id }) => before.some((one) => one.id === id)))
    await next.context.keys.ensureIdTokenKey('EdDSA')
    const machine = await requestToken(next, client, { grant_type: 'client_credentials' })
    assert.deepEqual([machine.statusCode, machine.json<{ error: string }>().error], [401, 'invalid_client'])
    assert.equal((await readRegistration(next, client)).statusCode, 401)
    assert.equal((await listClients(next, admin)).statusCode, 401)
    const withNewSecret = { ...client, ...(await newSecret(run, changed, client)) }
    // Another server keeps the previous record of the client for up to a second.
    const fresh = await open(changed)
    assert.equal((await redeem(fresh, withNewSecret, code)).json<{ error: string }>().error, 'invalid_grant')
    for (const tokens of [opaque, jwt]) {
      const refreshed = await refresh(fresh, withNewSecret, tokens.refresh_token ?? '')
      assert.equal(refreshed.json<{ error: string }>().error, 'invalid_grant')
      assert.equal(await isActive(fresh, withNewSecret, tokens.access_token), false)
    }
    const asked = await introspect(fresh, api, opaque.access_token)
    assert.equal(asked.statusCode, 401)
    const silent = new PlainBrowser(fresh)
    for (const [cookie, value] of browser.cookies) silent.cookies.set(cookie, value)
    assert.match(String((await silent.get(authorizeUrl(client))).headers.location), /sign-in/)

    assert.equal((await obtainTokens(fresh, withNewSecret, ASK)).expires_in, 900)
    const again = await registerClient(fresh, { token_endpoint_auth_method: 'none' })
    assert.equal(again.client_id, shared.client_id)
    await refuseFormerApp(fresh, withNewSecret, { email: BOB, app })
    assert.deepEqual((await verifyAudit(fresh.context, [])).faults, [])
    await assert.rejects(open({ GRANTOR_SECRET: OLD }), /another root secret/)
  })
}

for (const [name, openDeployment] of DEPLOYMENTS) {
  test(`STO-12, ${name}: after clock steps the audit survives a leaked secret, and a new link of the former master key is found`, async (t) => {
    const { open, run, changing, changed } = await openDeployment(t)
    let aheadMs = 0
    const clock = { now: () => (Date.now() + aheadMs) as EpochMs, advance: (ms: number) => void (aheadMs += ms) }
    const old = await open({}, clock)
    const record = () => old.context.store.recordEvent({ event: 'server.backed-up' })
    for (const step of [0, 24 * 60, -20, 20].map((minutes) => minutes * 60_000)) {
      aheadMs = step
      await record()
    }
    const formerSecrets = old.context.secrets
    const replaced = await run(['secret', 'rotate', '--leaked', '--yes'], changing)
    assert.equal(replaced.code, 0, replaced.stderr)
    // A server notices the change within a second.
    await record()
    const next = await open(changed)
    assert.deepEqual((await verifyAudit(next.context, [])).faults, [])
    const [stored] = await next.context.store.listAuditLinks({ before: undefined, limit: 1, since: 0 as EpochMs })
    assert.ok(stored)
    const forged = { ...stored, sequence: stored.sequence + 1, recordedAt: after(stored.recordedAt, 120_000) }
    const parts = auditLinkParts({ ...forged, previousHash: stored.hash })
    const text = formerSecrets.digest('audit', parts)
    assert.equal(formerSecrets.auditDigestMatches(parts, forged, text), true)
    assert.equal(next.context.secrets.auditDigestMatches(parts, forged, text), false)
  })
}

test('a secret in the environment is changed by its order of steps: no node stops working between two of them', async (t) => {
  const { open, run, changing, changed } = await openPostgresDeployment(t)
  const old = await open()
  const client = await registerClient(old)
  const early = await run(['secret', 'rotate'])
  assert.deepEqual([early.code, /GRANTOR_SECRET_PREVIOUS to the present one/.test(early.stderr)], [1, true])
  const both = await open(changing)
  assert.match((await run(['doctor'], changing)).stdout, /still uses the root secret in GRANTOR_SECRET_PREVIOUS/)
  await assert.rejects(open(changed), /another root secret than the one in GRANTOR_SECRET/)
  assert.equal((await run(['secret', 'rotate'], changing)).code, 0)
  for (const server of [old, both, await open(changing), await open(changed)]) {
    assert.equal((await requestToken(server, client, { grant_type: 'client_credentials' })).statusCode, 200)
  }
  await assert.rejects(open(), /another root secret/)
  assert.match((await run(['doctor'], changing)).stdout, /Remove GRANTOR_SECRET_PREVIOUS/)
  const twice = await run(['secret', 'rotate'], changing)
  assert.deepEqual([twice.code, /no longer needed/.test(twice.stderr)], [1, true])
})

test('a change of the secret in a file that was interrupted is completed by the next one', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  const server = await open()
  const client = await registerClient(server)
  const path = join(folder, 'grantor.secret')
  const secret = renewRootSecret(path)
  assert.match((await run(['doctor'])).stdout, /still uses the root secret in \S+grantor\.secret\.previous/)
  const between = await open()
  assert.equal((await requestToken(between, client, { grant_type: 'client_credentials' })).statusCode, 200)
  assert.equal((await run(['secret', 'rotate'])).code, 0)
  assert.equal(readFileSync(path, 'utf8').trim(), secret)
  assert.ok(!existsSync(previousSecretPath(path)))
  assert.equal((await run(['secret', 'rotate'])).code, 0)
  assert.notEqual(readFileSync(path, 'utf8').trim(), secret)
  assert.equal((await requestToken(await open(), client, { grant_type: 'client_credentials' })).statusCode, 200)
})

test('of two concurrent changes of the secret in a file one succeeds, and the store opens', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  await (await open()).close()
  const config = readConfig({ DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`, LOG_LEVEL: 'silent' })
  for (let round = 0; round < 5; round += 1) {
    const runtimes = [await openRuntime(config), await openRuntime(config)]
    const rotations = [rotateSecret, round % 2 === 0 ? rotateSecret : replaceLeakedSecret]
    const outcomes = await Promise.allSettled(
      runtimes.map(({ context }, index) => (rotations[index] ?? rotateSecret)(context, config)),
    )
    await Promise.all(runtimes.map(({ close }) => close()))
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.equal((await run(['user', 'list'])).code, 0)
    assert.ok(!existsSync(previousSecretPath(join(folder, 'grantor.secret'))))
  }
})

test('after a leak the secret of an interrupted change is replaced, because it may have leaked too', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  await (await open()).close()
  const pending = renewRootSecret(join(folder, 'grantor.secret'))
  assert.equal((await run(['secret', 'rotate', '--leaked', '--yes'])).code, 0)
  assert.notEqual(readFileSync(join(folder, 'grantor.secret'), 'utf8').trim(), pending)
  assert.equal((await run(['user', 'list'])).code, 0)
})

test('a backup with the secret has the secret that opens it, also while the secret is being changed', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  await (await open()).close()
  chmodSync(folder, 0o700)
  renewRootSecret(join(folder, 'grantor.secret'))
  const backup = join(folder, 'one.backup')
  assert.equal((await run(['backup', '--to', backup, '--with-secret'])).code, 0)
  const restored = join(temporaryFolder(t), 'restored')
  const { code, stderr } = await run(['restore', '--from', backup], {
    DATABASE_URL: `sqlite:${join(restored, 'grantor.db')}`,
  })
  assert.equal(code, 0, stderr)
})

test('BAK-06: a backup with the secret is not made while no secret opens the store, and leaves no file', async (t) => {
  const { folder, open } = await openFileDeployment(t)
  await (await open()).close()
  chmodSync(folder, 0o700)
  const config = readConfig({ DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`, LOG_LEVEL: 'silent' })
  const { context, close } = await openRuntime(config)
  const secret = join(folder, 'grantor.secret')
  renewRootSecret(secret)
  rmSync(previousSecretPath(secret))
  const before = readdirSync(folder)
  const plan = { to: join(folder, 'one.backup'), keep: undefined, withSecret: true, isFinal: false }
  await assert.rejects(backUp(config, context, plan), /The root secret is being changed/)
  assert.deepEqual(readdirSync(folder), before)
  await close()
})

test('a lock of the secret that cannot be made is not reported as another process', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  await (await open()).close()
  const lock = join(folder, 'grantor.secret.lock')
  mkdirSync(lock)
  const { code, stderr } = await run(['secret', 'rotate'])
  assert.deepEqual([code, stderr], [1, `grantor: ${lock} is not a file.\n`])
  rmSync(lock, { recursive: true })
  const held = takeServerLock(join(folder, 'grantor.secret'))
  assert.match((await run(['secret', 'rotate'])).stderr, /^grantor: Another process changes .*grantor\.secret\./)
  held.release()
  assert.equal((await run(['secret', 'rotate'])).code, 0)
})

test('a store of a release without a master key is opened, and its root secret can be changed', async (t) => {
  const { folder, open, run } = await openFileDeployment(t)
  const database = new DatabaseSync(join(folder, 'grantor.db'))
  const check = openSecrets(OLD).digest('store-check', [])
  database.prepare(`insert into settings (name, value) values ('secret-check', ?)`).run(check)
  database.close()
  const server = await open({ GRANTOR_SECRET: OLD })
  const client = await registerClient(server)
  assert.ok(openSecrets(OLD).verify('client-secret', client.client_secret ?? ''))
  await assert.rejects(open({ GRANTOR_SECRET: NEW }), /another root secret/)
  const changing = { GRANTOR_SECRET: NEW, GRANTOR_SECRET_PREVIOUS: OLD }
  const { stdout } = await run(['secret', 'rotate', '--json'], changing)
  assert.deepEqual(JSON.parse(stdout), { leaked: false, file: null, master_key_is_former_secret: true })
  const next = await open({ GRANTOR_SECRET: NEW })
  assert.equal((await requestToken(next, client, { grant_type: 'client_credentials' })).statusCode, 200)
  await assert.rejects(open({ GRANTOR_SECRET: OLD }), /another root secret/)
})

test('a server that runs while a leaked secret is replaced ends with an error, and starts again with the new one', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place)
  assert.equal((await runHere(place, ['secret', 'rotate'])).code, 0)
  assert.equal((await runHere(place, ['secret', 'rotate', '--leaked', '--yes'])).code, 0)
  assert.equal((await server.exited).code, 1)
  await untilLogged(server, '"secret.replaced"')
  await serve(place)
})

function readRegistration(server: TestServer, client: RegisteredClient) {
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  return server.inject({ method: 'GET', url: pathname + search, headers: { authorization } })
}

function listClients(server: TestServer, created: string) {
  const { token } = JSON.parse(created) as { readonly token: string }
  return server.injectAdmin({
    method: 'GET',
    url: '/admin/v1/clients',
    headers: { authorization: `Bearer ${token}` },
  })
}

async function newSecret(run: Deployment['run'], changed: Environment, { client_id }: RegisteredClient) {
  const { stdout } = await run(['client', 'rotate-secret', client_id, '--json'], changed)
  return JSON.parse(stdout) as { readonly client_secret: string }
}
