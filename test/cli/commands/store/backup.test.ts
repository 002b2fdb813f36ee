import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { createInitialToken } from '../../../../src/admin/client/initial-token.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { openTerminal } from '../../../../src/cli/lib/terminal.ts'
import { DEFAULT_TEMPLATE } from '../../../../src/protocol/client/registration-template.ts'
import { createAda } from '../../../support/accounts.ts'
import { runHere, runJsonHere } from '../../../support/command.ts'
import { obtainTokens, refresh, registerClient, requestToken, type RegisteredClient } from '../../../../tools/flow.ts'
import { openMigratedDatabase } from '../../../support/store/migrated-database.ts'
import { openTestDatabase } from '../../../support/store/postgres.ts'
import { openPlace, serve, type Place } from '../../../support/process.ts'
import { PROGRAM } from '../../../../tools/process/command-line.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../../../support/server.ts'
import { execute } from '../../../support/store/dump.ts'
import { isActive } from '../../../support/token-questions.ts'

const SECRET = 'a root secret that is long enough for it'

interface BackupPlaces {
  /** The settings of the store that is backed up. */
  readonly own: Readonly<Record<string, string>>
  /** The settings of an empty place. */
  readonly empty: () => Promise<Readonly<Record<string, string>>>
}

const AN_INITIAL_TOKEN = { name: 'A pipeline', uses: 9, days: 30, template: DEFAULT_TEMPLATE }

interface Restored {
  readonly admin_token: string
  readonly previous_database: string | null
  readonly rows: Readonly<Record<string, number>>
  readonly to_repeat: readonly string[]
}

const PLACES = {
  async SQLite(t: TestContext): Promise<BackupPlaces> {
    const place = async () => ({
      DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'grantor.db')}`,
      GRANTOR_SECRET: SECRET,
    })
    return { own: await place(), empty: place }
  },
  async PostgreSQL(t: TestContext): Promise<BackupPlaces> {
    const own = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: SECRET }
    return { own, empty: async () => ({ ...own, DATABASE_URL: await openTestDatabase(t) }) }
  },
} as const

async function registerWith(server: TestServer, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (await server.inject({ method: 'POST', url: '/v2/oauth/register', headers, payload: '{}' })).statusCode
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`BAK-01, STO-05, IAT-05: ${kind}, a restore ends all tokens and sessions, revoked or not, and keeps people and clients`, async (t) => {
    const { own, empty } = await PLACES[kind](t)
    const place = await openPlace(t)
    const before = await openTestServer(t, { env: own })
    await createAda(before)
    const client = await registerClient(before)
    const tokens = await obtainTokens(before, client)
    const machine = await registerClient(before, { grant_types: ['client_credentials'] })
    const admin = await runJsonHere<{ token: string }>({ ...place, environment: own }, [
      'admin',
      'create',
      '--name',
      'A',
      '--access',
      'write',
    ])
    const initialTokens = await Promise.all(
      ['one', 'two'].map((name) => createInitialToken(before.context, { ...AN_INITIAL_TOKEN, name })),
    )
    const revoked = initialTokens[1]?.record.id ?? assert.fail()
    await before.context.store.revokeInitialToken({ id: revoked, now: 1 as EpochMs })
    const keys = await keyIds(before)
    const file = join(place.folder, 'one.backup')
    await command(place, own, ['backup', '--to', file])
    const later = await requestToken(before, machine, { grant_type: 'client_credentials' })
    await before.close()

    const target = await empty()
    const restored = await commandJson<Restored>(place, target, ['restore', '--from', file])
    const after = await openTestServer(t, { env: target })
    assert.equal(await isActive(after, client, tokens.access_token), false)
    assert.equal(await isActive(after, machine, later.json().access_token), false, 'It was issued after the backup.')
    assert.equal((await refresh(after, client, tokens.refresh_token ?? '')).json().error, 'invalid_grant')
    assert.deepEqual(
      (await keyIds(after)).filter((id) => keys.includes(id)),
      [],
    )
    assert.equal(await askAsAdmin(after, admin.token), 401)
    for (const { token } of initialTokens) assert.equal(await registerWith(after, token), 401)
    assert.equal((await after.context.store.findInitialToken(revoked))?.revokedAt, 1)
    assert.equal(await askAsAdmin(after, restored.admin_token), 200)
    assert.equal((await requestToken(after, machine, { grant_type: 'client_credentials' })).statusCode, 200)
    const renewed = await obtainTokens(after, client, { prompt: 'consent' })
    assert.equal(await isActive(after, client, renewed.access_token), true)
    assert.equal(restored.rows['users'], 1)
    assert.match(restored.to_repeat.join(), /disabled or deleted/)
    const verified = await command(place, target, ['audit', 'verify'])
    assert.match(verified, /Nothing was changed or removed/)
    assert.match(await command(place, target, ['audit', 'list']), /server\.restored/)
    assert.match(await command(place, target, ['doctor'], 1), /ok +backup +The last backup was made at/)
  })
}

test('BAK-01: a backup of SQLite is restored into PostgreSQL, and a backup of that into SQLite', async (t) => {
  const place = await openPlace(t)
  const [sqlite, postgres] = [await PLACES.SQLite(t), await PLACES.PostgreSQL(t)]
  const server = await openTestServer(t, { env: sqlite.own })
  await createAda(server)
  const clients = await Promise.all(Array.from({ length: 30 }, () => registerClient(server)))
  await server.close()
  const files = ['one', 'two'].map((name) => join(place.folder, name))
  const [first = '', second = ''] = files
  const [there, back] = [await postgres.empty(), await sqlite.empty()]
  await command(place, sqlite.own, ['backup', '--to', first])
  await command(place, there, ['restore', '--from', first])
  await command(place, there, ['backup', '--to', second])
  await command(place, back, ['restore', '--from', second])
  const reopened = await openTestServer(t, { env: back })
  for (const client of clients) assert.equal((await find(reopened, client))?.id, client.client_id)
  const rowsOf = (file: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('["gci_'))
      .toSorted()
  assert.equal(rowsOf(first).length, 30)
})

test('a backup of a running server has what was committed before; a restore refuses while the server runs', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const folder = join(place.folder, 'backups')
  const { path } = await runJsonHere<{ path: string }>(place, ['backup', '--to', `${folder}/`])
  const refused = await runHere(place, ['restore', '--from', path, '--replace'])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, new RegExp(`in use by process ${server.child.pid}`))
  server.child.kill('SIGKILL')
  await server.exited
  const needsFlag = await runHere(place, ['restore', '--from', path])
  assert.match(needsFlag.stderr, /There is a database at .*--replace/)
  const { previous_database: aside } = await runJsonHere<Restored>(place, ['restore', '--from', path, '--replace'])
  assert.ok(aside !== null && existsSync(aside))
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => /restoring|-wal|-shm/.test(name)),
    [],
  )
  assert.match((await runHere(place, ['org', 'list'])).stdout, /Acme/)
  await serve(place)
})

test('BAK-06: a backup is readable by its owner only, keeps the newest, and has the secret only in a closed folder', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const folder = join(place.folder, 'backups')
  mkdirSync(folder, { mode: 0o750 })
  writeFileSync(join(folder, 'notes'), '')
  const open = await runHere(place, ['backup', '--to', folder, '--with-secret'])
  assert.match(open.stderr, /chmod 700/)
  chmodSync(folder, 0o700)
  for (let round = 0; round < 3; round += 1) {
    const { code, stderr } = await runHere(place, ['backup', '--to', folder, '--with-secret', '--keep', '2'])
    assert.equal(code, 0, stderr)
  }
  const names = readdirSync(folder).toSorted()
  assert.equal(names.length, 5, names.join())
  for (const name of names.filter((one) => one !== 'notes'))
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
  const backup = names.findLast((name) => name.endsWith('.backup')) ?? ''
  const bare = {
    ...place,
    environment: { ...place.environment, DATABASE_URL: `sqlite:${join(place.folder, 'new', 'grantor.db')}` },
  }
  assert.match((await runHere(bare, ['restore', '--from', folder])).stderr, new RegExp(`newest backup is .*${backup}`))
  assert.equal((await runHere(bare, ['restore', '--from', join(folder, backup)])).code, 0)
  assert.equal(statSync(join(place.folder, 'new', 'grantor.secret')).mode & 0o777, 0o600)
})

test('a backup does not replace a file that is not one', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const database = join(place.folder, 'grantor.db')
  const { code, stderr } = await runHere(place, ['backup', '--to', database])
  assert.deepEqual(
    [code, stderr],
    [1, `grantor: ${database} exists and is not a backup. Name another file, or a folder.\n`],
  )
  assert.match(
    (await runHere(place, ['backup', '--to', join(place.folder, 'one'), '--keep', '3'])).stderr,
    /--keep needs a folder/,
  )
})

test('a backup lets the servers of its machine go first, and lowers the priority of no process but its own', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const before = getPriority()
  await command(place, {}, ['backup', '--to', join(place.folder, 'one.backup')])
  assert.equal(getPriority(), before)
  const child = spawn('sleep', ['60'])
  const { pid } = child
  // 0 would be the process of the tests.
  assert.ok(pid)
  t.after(() => child.kill())
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  openTerminal({ stdin, stdout, stderr, pid }, {}, 'grantor').giveWay()
  assert.equal(getPriority(pid), constants.priority.PRIORITY_LOW)
})

test('BAK-04: a backup that does not fit on the disk fails, and leaves the previous backup and no part of a new one', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const folder = temporaryFolder(t)
  const file = join(folder, 'one.backup')
  await command(place, {}, ['backup', '--to', file])
  const previous = readFileSync(file)
  execute(
    place,
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < 12000)
     insert into organizations (organization_id, name, created_at, not_before) select 'gor_' || i, printf('%.*c', 300, 'x'), 1, 1 from n`,
  )
  // The limit of the process for the size of a file, at which a write fails as on a full disk. It is 1 or 2 MiB.
  const limited = `ulimit -f 2048; exec "$0" "$@"`
  const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, PROGRAM, 'backup', '--to', file], {
    env: place.environment,
  })
  assert.equal(status, 1)
  assert.match(stderr.toString(), /one\.backup/)
  assert.deepEqual([readdirSync(folder), readFileSync(file)], [['one.backup'], previous])
})

async function command(
  place: Place,
  environment: Readonly<Record<string, string>>,
  words: readonly string[],
  expected = 0,
): Promise<string> {
  const { code, stdout, stderr } = await runHere(place, words, { environment })
  assert.equal(code, expected, stderr)
  return stdout
}

async function commandJson<T>(
  place: Place,
  environment: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<T> {
  return JSON.parse(await command(place, environment, [...words, '--json'])) as T
}

async function keyIds(server: TestServer): Promise<readonly string[]> {
  const { keys } = (await server.inject({ url: '/v2/oauth/jwks' })).json<{ keys: { kid: string }[] }>()
  return keys.map(({ kid }) => kid)
}

async function askAsAdmin(server: TestServer, token: string): Promise<number> {
  const { statusCode } = await server.injectAdmin({
    url: '/admin/v1/users',
    headers: { authorization: `Bearer ${token}` },
  })
  return statusCode
}

function find({ context }: TestServer, { client_id }: RegisteredClient) {
  return context.store.findClient(client_id as never)
}
