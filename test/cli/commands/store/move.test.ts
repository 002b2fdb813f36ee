import assert from 'node:assert/strict'
import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  EMAIL,
  registerClient,
  obtainTokens,
  refresh,
  requestToken,
  type RegisteredClient,
} from '../../../../tools/flow.ts'
import { readConfig } from '../../../../src/config/config.ts'
import { backUp } from '../../../../src/maintenance/backup.ts'
import { openBackup } from '../../../../src/store/backup/read.ts'
import { keepEverything } from '../../../../src/store/backup/tables.ts'
import { withConnection } from '../../../../src/store/postgres/connection/single-connection.ts'
import { loadPostgres } from '../../../../src/store/postgres/snapshot.ts'
import { aLink } from '../../../support/records.ts'
import { aMail } from '../../../support/sign-in/factor-records.ts'
import { poll, startDevice } from '../../../../tools/device-flow.ts'
import { createDeviceClient, DEVICES_ON } from '../../../support/sign-in/devices.ts'
import { createAda } from '../../../support/accounts.ts'
import { runHere } from '../../../support/command.ts'
import { openMigratedDatabase } from '../../../support/store/migrated-database.ts'
import { openTestDatabase } from '../../../support/store/postgres.ts'
import { openPlace, run, serve, untilLogged, type Place } from '../../../support/process.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../../../support/server.ts'
import { perform } from '../../../support/tasks.ts'
import { isActive, revoke } from '../../../support/token-questions.ts'

/** Stores that move to another place: `grantor export`, `grantor import grantor`, `grantor database reopen`. */

type Settings = Readonly<Record<string, string>>

const GRANTOR_SECRET = 'a root secret that is long enough for it'
const CLOSED = /This store was closed by "grantor export --final".*grantor database reopen/

const STORES = {
  SQLite: async (t: TestContext): Promise<string> => `sqlite:${join(temporaryFolder(t), 'grantor.db')}`,
  PostgreSQL: openTestDatabase,
} as const

const MOVES = [
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
] as const

/** A store with people, clients and tokens, which no server uses. */
async function openSource(t: TestContext, kind: keyof typeof STORES) {
  const url = kind === 'SQLite' ? await STORES.SQLite(t) : await openMigratedDatabase(t)
  const own = { DATABASE_URL: url, GRANTOR_SECRET }
  const server = await openTestServer(t, { env: { ...own, ...DEVICES_ON } })
  await createAda(server)
  const client = await registerClient(server)
  const [first, second] = [
    await obtainTokens(server, client),
    await obtainTokens(server, client, { prompt: 'consent' }),
  ]
  // Of another server, with the id and the secret that it had there.
  const machine = { client_id: 'spa:acme/1|x', client_secret: 'a-secret:with%2Band+more' }
  await perform(server.context, 'client.create', { client_id: machine.client_id, client_name: 'Machine' })
  await perform(server.context, 'client.set-secret', machine)
  const [live, revoked] = [await tokenOf(server, machine), await tokenOf(server, machine)]
  await revoke(server, machine, revoked)
  const place = await openPlace(t)
  const file = join(place.folder, 'moved')
  return { place, own, server, client, tokens: first, other: second, machine, live, revoked, file }
}

async function tokenOf(server: TestServer, machine: RegisteredClient): Promise<string> {
  return (await requestToken(server, machine, { grant_type: 'client_credentials' })).json<{ access_token: string }>()
    .access_token
}

async function targetOf(t: TestContext, kind: keyof typeof STORES): Promise<Settings> {
  return { DATABASE_URL: await STORES[kind](t), GRANTOR_SECRET }
}

async function command(place: Place, environment: Settings, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(place, words, { environment })
  assert.equal(code, 0, stderr)
  return stdout
}

async function refusal(place: Place, environment: Settings, ...words: readonly string[]): Promise<string> {
  const { code, stderr } = await runHere(place, words, { environment })
  assert.equal(code, 1, stderr)
  assert.doesNotMatch(stderr, /This is a bug/)
  return stderr
}

/** The key set as soon as it may be cached: before that it may lack keys that the server is making. */
async function keySetOf(server: TestServer): Promise<unknown> {
  for (;;) {
    const answer = await server.inject({ url: '/v2/oauth/jwks' })
    if (String(answer.headers['cache-control']).includes('max-age')) return answer.json()
  }
}

for (const [from, to] of MOVES) {
  test(`MOV-01, DEV-13: a store that moves from ${from} to ${to} keeps tokens, keys, administrators, waiting mails and devices; what was revoked stays so`, async (t) => {
    const { place, own, server, client, tokens, machine, live, revoked, file } = await openSource(t, from)
    const cli = await createDeviceClient(server)
    const device = await startDevice(server, cli)
    const admin = JSON.parse(await command(place, own, 'admin', 'create', '--name', 'A', '--access', 'write', '--json'))
    const keys = await keySetOf(server)
    const ada = await server.context.store.findUserByEmail(EMAIL)
    assert.ok(ada)
    const mail = aMail({ userId: ada.id, address: EMAIL })
    await server.context.store.createLink({ ...aLink({ userId: ada.id }), mails: [mail] })
    await server.close()
    await command(place, own, 'export', '--to', file, '--final')
    const target = await targetOf(t, to)
    assert.match(await command(place, target, 'import', 'grantor', file), /Everything that was issued before is valid/)

    const moved = await openTestServer(t, { env: { ...target, ...DEVICES_ON } })
    assert.deepEqual(await keySetOf(moved), keys)
    assert.deepEqual(await moved.context.store.listDueMails({ now: mail.dueAt, limit: 2 }), [mail])
    assert.equal((await poll(moved, cli, device)).json().error, 'authorization_pending')
    assert.equal(await isActive(moved, client, tokens.access_token), true)
    assert.equal(await isActive(moved, machine, live), true)
    assert.equal(await isActive(moved, machine, revoked), false)
    const renewed = await refresh(moved, client, tokens.refresh_token ?? '')
    assert.equal(renewed.statusCode, 200, renewed.body)
    const headers = { authorization: `Bearer ${admin.token}` }
    assert.equal((await moved.injectAdmin({ url: '/admin/v1/users', headers })).statusCode, 200)
    assert.match(await command(place, target, 'audit', 'verify'), /Nothing was changed or removed/)
    assert.match(await command(place, target, 'audit', 'list'), /server\.imported[^]*server\.exported/)
    // The way back is the same.
    await moved.close()
    await command(place, target, 'export', '--to', file, '--final')
    const back = await targetOf(t, from)
    await command(place, back, 'import', 'grantor', file)
    const returned = await openTestServer(t, { env: back })
    assert.equal(await isActive(returned, client, renewed.json<{ access_token: string }>().access_token), true)
    assert.deepEqual(await keySetOf(returned), keys)
  })
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`MOV-02: ${kind}, a server that runs at the final export ends, and every client that it acknowledged has moved`, async (t) => {
    const place = await openPlace(t)
    const own = { DATABASE_URL: await STORES[kind](t), GRANTOR_SECRET }
    const server = await serve(place, { environment: own })
    const acknowledged: string[] = []
    const statuses = new Set<number>()
    const end = new AbortController()
    const register = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const answer = await fetch(`${place.issuer}/v2/oauth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"grant_types":["client_credentials"]}',
        }).catch(() => undefined)
        if (answer === undefined) return
        statuses.add(answer.status)
        const { client_id: id } = (await answer.json()) as { readonly client_id?: string }
        if (answer.status === 201 && id !== undefined) acknowledged.push(id)
      }
    }
    const callers = Promise.all(Array.from({ length: 4 }, register))
    const file = join(place.folder, 'moved')
    const { code, stderr } = await run(place, ['export', '--to', file, '--final'], { environment: own })
    assert.equal(code, 0, stderr)
    await untilLogged(server, '"store.closed"')
    assert.equal((await server.exited).code, 0)
    end.abort()
    await callers
    assert.deepEqual(
      [...statuses].filter((status) => status !== 201 && status !== 503 && status !== 429),
      [],
    )
    assert.ok(acknowledged.length > 0)
    const text = readFileSync(file, 'utf8')
    assert.deepEqual(
      acknowledged.filter((id) => !text.includes(id)),
      [],
    )
  })

  test(`MOV-02: ${kind}, a closed store refuses to serve and every command that writes, and can be read`, async (t) => {
    const { place, own, server, client, tokens, other, file } = await openSource(t, kind)
    await command(place, own, 'export', '--to', file, '--final')
    // This server has not noticed it yet.
    const late = await refresh(server, client, tokens.refresh_token ?? '')
    assert.deepEqual([late.statusCode, late.json<{ error: string }>().error], [503, 'temporarily_unavailable'])
    await server.close()
    await assert.rejects(openTestServer(t, { env: own }), CLOSED)
    for (const words of [
      ['org', 'create', 'Acme'],
      ['backup', '--to', `${file}.backup`],
      ['export', '--to', `${file}.other`],
      ['key', 'rotate'],
      ['issuer', 'set', place.issuer],
    ])
      assert.match(await refusal(place, own, ...words), CLOSED, words.join(' '))
    assert.match(await command(place, own, 'user', 'list'), /ada@/)
    const doctor = await runHere(place, ['doctor'], { environment: own })
    assert.match(doctor.stdout, /failed +database +"grantor export --final" closed the store/)
    const before = readFileSync(file, 'utf8').split('\n').slice(1, -2)
    await command(place, own, 'export', '--to', file, '--final')
    assert.deepEqual(readFileSync(file, 'utf8').split('\n').slice(1, -2), before)

    await command(place, own, 'database', 'reopen', '--not-imported')
    assert.match(await refusal(place, own, 'database', 'reopen'), /is not closed/)
    const reopened = await openTestServer(t, { env: own })
    assert.equal(await isActive(reopened, client, tokens.access_token), true)
    assert.equal((await refresh(reopened, client, tokens.refresh_token ?? '')).statusCode, 200)
    await reopened.close()
    await command(place, own, 'export', '--to', file, '--final')
    await command(place, own, 'database', 'reopen')
    const ended = await openTestServer(t, { env: own })
    assert.equal(await isActive(ended, client, other.access_token), false)
    assert.equal((await refresh(ended, client, other.refresh_token ?? '')).statusCode, 400)
    assert.match(await command(place, own, 'audit', 'list'), /server\.reopened.*tokens_kept=false/)
  })
}

test('MOV-02: a final export whose file cannot be written says whether the store is closed, and is repeated', async (t) => {
  const place = await openPlace(t)
  const words = (file: string) => ['export', '--to', file, '--final']
  await command(place, {}, 'org', 'create', 'Acme')
  const missing = await refusal(place, {}, ...words(join(place.folder, 'missing', 'moved')))
  assert.match(missing, /there is no folder/)
  assert.doesNotMatch(missing, /closed/)
  await command(place, {}, 'org', 'create', 'Beta')
  const file = join(place.folder, 'moved')
  const full = t.mock.method(fs, 'writeSync', () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
  })
  const restore = (): void => {
    full.mock.restore()
    syncBuiltinESMExports()
  }
  syncBuiltinESMExports()
  t.after(restore)
  assert.match(
    await refusal(place, {}, ...words(file)),
    /no space left[^]*The store is closed[^]*reopen --not-imported/,
  )
  assert.match(await refusal(place, {}, 'org', 'create', 'Gamma'), CLOSED)
  restore()
  await command(place, {}, ...words(file))
  assert.match(readFileSync(file, 'utf8'), /Acme[^]*Beta/)
})

test('MOV-02: a final export whose database cannot be read says that the store is closed', async (t) => {
  const { context } = await openTestServer(t)
  const closed = { masterKeyCheck: undefined, closedAt: context.clock() }
  const store = { ...context.store, findServerEnd: async () => closed }
  const unreachable = readConfig({ DATABASE_URL: 'postgresql://127.0.0.1:1/grantor', GRANTOR_SECRET })
  const plan = { to: join(temporaryFolder(t), 'moved'), keep: undefined, withSecret: false, isFinal: true }
  await assert.rejects(backUp(unreachable, { ...context, store }, plan), /cannot be reached[^]*The store is closed/)
})

test('MOV-02: a final export of distributed tables is refused before anything is recorded', async (t) => {
  const place = await openPlace(t)
  const own = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET }
  await command(place, own, 'org', 'create', 'Acme')
  // What Citus adds for a table that it distributes.
  await withConnection(own.DATABASE_URL, { name: 'test' }, async (client) => {
    const database = new URL(own.DATABASE_URL).pathname.slice(1)
    await client.query(`alter database ${database} set search_path = public, pg_catalog`)
    await client.query(`create table pg_extension as select 'citus' as extname`)
    await client.query('create table pg_dist_local_group as select 0 as groupid')
    await client.query(`create table pg_dist_partition as select to_regclass('authorizations') as logicalrelid`)
  })
  const refused = await refusal(place, own, 'export', '--to', join(place.folder, 'moved'), '--final')
  assert.match(refused, /distributed by Citus/)
  const events = await command(place, own, 'audit', 'list')
  assert.match(events, /org/)
  assert.doesNotMatch(events, /server\.exported/)
})

test('MOV-03: without --final an import ends what was valid, and so does the restore of a final export', async (t) => {
  const { place, own, server, client, tokens, file } = await openSource(t, 'SQLite')
  await server.close()
  for (const [option, ...words] of [
    [[], 'import', 'grantor', file],
    [['--final'], 'restore', '--from', file],
  ] as const) {
    await command(place, own, 'export', '--to', file, ...option)
    const target = await targetOf(t, 'SQLite')
    assert.match(await command(place, target, ...words), /Invalid from now on: all access and refresh tokens/)
    const after = await openTestServer(t, { env: target })
    assert.equal(await isActive(after, client, tokens.access_token), false)
    assert.equal((await refresh(after, client, tokens.refresh_token ?? '')).statusCode, 400)
    await after.close()
  }
})

test('MOV-03: an import or a restore into an empty place leaves only the new database there, and names no previous one', async (t) => {
  const place = await openPlace(t)
  const [source, file] = [await targetOf(t, 'SQLite'), join(place.folder, 'moved')]
  await command(place, source, 'org', 'create', 'Acme')
  await command(place, source, 'export', '--to', file, '--final')
  for (const words of [
    ['import', 'grantor', file],
    ['restore', '--from', file],
  ]) {
    const folder = temporaryFolder(t)
    const target = { DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`, GRANTOR_SECRET }
    assert.doesNotMatch(await command(place, target, ...words), /previous database/)
    assert.deepEqual(readdirSync(folder).toSorted(), ['grantor.db', 'grantor.db.lock', 'grantor.db.state'])
  }
})

test('MOV-03: an import of a changed file, with another secret or into a store with rows is refused, and writes nothing', async (t) => {
  const { place, own, server, file } = await openSource(t, 'SQLite')
  await server.close()
  await command(place, own, 'export', '--to', file, '--final')
  const text = readFileSync(file, 'utf8')
  const [target, used] = [await targetOf(t, 'SQLite'), await targetOf(t, 'PostgreSQL')]
  const attempt = (environment: Settings) => refusal(place, environment, 'import', 'grantor', file)
  await command(place, used, 'org', 'create', 'Acme')
  assert.match(await attempt(used), /The database has rows/)
  assert.match(await attempt(own), /There is a database at/)
  const other = { ...target, GRANTOR_SECRET: 'another root secret, long enough for it' }
  assert.match(await attempt(other), /under another root secret/)
  for (const [damaged, message] of [
    [text.slice(0, -200), /incomplete|damaged/],
    [text.replace('"final":true', '"final":null'), /not a backup/],
    [text.replace(',"final":true', ''), /does not know|damaged/],
    [text.replace('Ada', 'Eve'), /damaged: its checksum/],
  ] as const) {
    writeFileSync(file, damaged)
    assert.match(await attempt(target), message)
  }
  writeFileSync(file, text)
  const running = await openTestServer(t, { env: target })
  assert.match(await attempt(target), /is in use by/)
  await running.close()
})

test('MOV-03: an import into PostgreSQL that was killed is completed by a repeat, and not by a restore', async (t) => {
  const { place, own, server, client, tokens, file } = await openSource(t, 'SQLite')
  await server.close()
  await command(place, own, 'export', '--to', file, '--final')
  const target = await targetOf(t, 'PostgreSQL')
  const opened = openBackup(file)
  const load = { schema: opened.header.schema, mark: `${opened.sha256} moved` }
  await loadPostgres(target['DATABASE_URL'] ?? '', load, () => Array.from(opened.slices(), keepEverything))
  opened.close()
  await assert.rejects(openTestServer(t, { env: target }), /A backup is being restored/)
  assert.match(await refusal(place, target, 'restore', '--from', file), /has the rows of another backup/)
  await command(place, target, 'import', 'grantor', file)
  const moved = await openTestServer(t, { env: target })
  assert.equal(await isActive(moved, client, tokens.access_token), true)
})
