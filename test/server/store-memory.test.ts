import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { findTask } from '../../src/admin/tasks.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { NodeContext } from '../../src/server/context.ts'
import { EMAIL, refresh, type Tokens } from '../../tools/flow.ts'
import { createDatabase, execute, withClient } from '../../tools/postgres/postgres.ts'
import { issueCredentials, type IssuedCredentials } from '../clock/issued-credentials.ts'
import { placeBlankDatabase } from '../support/store/blank-database.ts'
import { runHere } from '../support/command.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import type { Finished } from '../support/process.ts'
import { openDatabase, openTestDatabase } from '../support/store/postgres.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { databasePath } from '../support/store/dump.ts'
import { isActive, revoke } from '../support/token-questions.ts'

type Environment = Readonly<Record<string, string>>

/** A way in which a store comes back without `grantor restore`. */
interface Way {
  readonly environment: (t: TestContext, folder: string) => Promise<Environment>
  /** Takes a copy while the server runs, or after it was closed. Returns the function that puts the copy back. */
  readonly copy: (server: TestServer, environment: Environment, t: TestContext) => Promise<() => Promise<Environment>>
  readonly isRunning: boolean
}

const ROWS = 'the earlier rows in the same PostgreSQL database'

const WAYS: Readonly<Record<string, Way>> = {
  'a copy of the SQLite file of a closed server': {
    environment: async (_, folder) => ({ DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}` }),
    async copy(server, environment) {
      await server.close()
      return copyFiles(server, environment, [''])
    },
    isRunning: false,
  },
  'a copy of the SQLite file and its log': {
    environment: async (_, folder) => ({ DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}` }),
    copy: (server, environment) => copyFiles(server, environment, ['', '-wal']),
    isRunning: false,
  },
  [ROWS]: {
    environment: openPostgres,
    copy: copyRows,
    isRunning: true,
  },
  'a copy of a PostgreSQL database': {
    environment: openPostgres,
    async copy(server, environment, t) {
      await server.close()
      const { DATABASE_URL: url = '' } = environment
      const template = new URL(url).pathname.slice(1)
      await execute(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}' and pid <> pg_backend_pid()`,
      )
      const copied = await openDatabase(t, (adminUrl) => createDatabase(adminUrl, template))
      return async () => {
        // Each time a new copy of the copy.
        const name = new URL(copied).pathname.slice(1)
        return { ...environment, DATABASE_URL: await openDatabase(t, (adminUrl) => createDatabase(adminUrl, name)) }
      }
    },
    isRunning: false,
  },
}

let copies = 0
const isOriginal = ({ context }: TestServer): boolean => context.isOriginalStore()

/** What an earlier store revives. */
const CHANGES: Readonly<Record<string, (server: TestServer, issued: IssuedCredentials) => Promise<unknown>>> = {
  'a revoked access token': (server, { client, tokens }) => revoke(server, client, tokens.access_token),
  async 'a rotated refresh token'(server, { client, tokens }) {
    assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 200)
    // A running server does this every ten seconds.
    await server.context.auditRecorder.flush()
  },
  async 'a withdrawn key'(server) {
    const { kid } = await perform<{ readonly kid: string }>(server, 'key.rotate', {})
    await perform(server, 'key.retire', { kid })
  },
  'a disabled user': async (server) => perform(server, 'user.disable', { user_id: await adaOf(server) }),
  'a deleted client': (server, { client }) => perform(server, 'client.delete', { client_id: client.client_id }),
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`BAK-07: with ${name} a node without a memory starts with a warning; a node with one serves nothing until the operator has answered`, async (t) => {
    const place = await openPlaceOf(t, way)
    const issued = await issueCredentials(place.server)
    const putBack = await place.copy()
    const kid = (await keysOf(place.server))[0]
    await revoke(place.server, issued.client, issued.tokens.access_token)
    await place.restart(putBack, () => rmSync(place.stateFile))
    assert.equal((await ready(place.server)).statusCode, 200)
    assert.match((await place.run(['doctor'])).stdout, /warning +history[^]*grantor restore --in-place/)

    for (const change of Object.values(CHANGES)) await change(place.server, issued)
    await place.restart(putBack)
    const { server } = place
    await assertServesNothing(server, issued)
    assert.match(server.log(), /"event":"store.went-back","if_restored":"grantor restore --in-place"/)
    assert.match((await place.run(['doctor'])).stdout, /failed .*restore --in-place/s)
    const final = await place.run(['export', '--final', '--to', join(server.folder, 'moved.export')])
    assert.deepEqual([final.code, /Answer first: grantor restore --in-place/.test(final.stderr)], [1, true])
    const backup = await place.run(['backup', '--to', join(server.folder, 'one.backup')])
    assert.match(backup.stdout, /Warning: the store went back/)
    // What a command does meanwhile does not hide it.
    assert.equal((await place.run(['user', 'disable', EMAIL])).code, 0)
    await place.restart(undefined)
    await assertServesNothing(place.server, issued)

    const answered = await place.run(['restore', '--in-place'])
    assert.equal(answered.code, 0, answered.stderr)
    assert.match(answered.stdout, /Everything that could be valid again in .* is now invalid[^]*gad_/)
    await assertEnded(place.server, issued, kid)
    await place.restart(undefined)
    await assertEnded(place.server, issued, kid)
    assert.doesNotMatch((await place.run(['doctor'])).stdout, /(warning|failed) +history/)
    assert.deepEqual((await verifyAudit(place.server.context, [])).faults, [])
  })
}

for (const name of ['a copy of the SQLite file and its log', ROWS]) {
  const way = WAYS[name] ?? assert.fail()
  test(`BAK-07: with ${name} a store that went back is noticed by each sign, and is served if the operator confirms that nothing was lost: ${Object.keys(CHANGES).join(', ')}`, async (t) => {
    const place = await openPlaceOf(t, way)
    // Until the next start, whose clock is right.
    place.server.clock.advance(1500)
    const issued = await issueCredentials(place.server)
    let putBack = await place.copy()
    for (const [what, change] of Object.entries(CHANGES)) {
      await change(place.server, issued)
      // A node notices it after a restart, or within a second.
      await (way.isRunning ? place.goBack(putBack) : place.restart(putBack))
      assert.equal((await ready(place.server)).statusCode, 503, what)
      assert.equal((await place.run(['restore', '--nothing-lost'])).code, 0)
      await watchOf(place.server).check()
      assert.equal((await ready(place.server)).statusCode, 200)
      // With the answer, so that only the change is missing.
      putBack = await way.copy(place.server, place.environment, t)
    }
    place.server.clock.advance(2000)
    assert.equal((await refresh(place.server, issued.client, issued.tokens.refresh_token ?? '')).statusCode, 200)
  })
}

test('BAK-07: a node that notices that rows went back marks the store for all others, and one answer suffices', async (t) => {
  const place = await openPlaceOf(t, WAYS[ROWS] ?? assert.fail())
  const { environment } = place
  const issued = await issueCredentials(place.server)
  // Without a disk, this node remembers only while it runs, and less than the copy has.
  const open = () => openTestServer(t, { folder: temporaryFolder(t), env: { ...environment, GRANTOR_STATE_FILE: '' } })
  const second = await open()
  assert.deepEqual([place.server, second].map(isOriginal), [true, false], 'PK-11: the one that began the store')
  const putBack = await place.copy()
  const ofBefore = readFileSync(place.stateFile)
  await place.server.context.store.recordEvent({ event: 'server.backed-up' })
  const putBackAll = await copyRows(place.server, environment)
  await revoke(place.server, issued.client, issued.tokens.access_token)
  await watchOf(place.server).check()
  await putBackAll()
  // As after a kill, up to ten seconds after the file was written.
  writeFileSync(place.stateFile, ofBefore)
  for (const node of [place.server, second]) {
    await watchOf(node).check()
    await assertServesNothing(node, issued)
  }
  const third = await open()
  await assertServesNothing(third, issued)
  // The rows go back again, without the mark: the file remembers what the node had noticed.
  await putBackAll()
  await place.restart(undefined)
  await assertServesNothing(place.server, issued)
  // A copy from before the first era, in which a node without a memory begins it.
  await putBack()
  await execute(environment['DATABASE_URL'] ?? '', `delete from settings where name = 'store-eras'`)
  const fourth = await open()
  await place.restart(undefined)
  for (const node of [place.server, fourth]) {
    await watchOf(node).check()
    await assertServesNothing(node, issued)
  }
  assert.equal((await place.run(['restore', '--in-place'])).code, 0)
  for (const node of [place.server, second, third, fourth]) {
    await watchOf(node).check()
    await assertEnded(node, issued, undefined)
  }
})

test('BAK-07: restarts, a copied folder, another store, a lost memory and swept links are not taken for a store that went back', async (t) => {
  const place = await openPlaceOf(t, WAYS['a copy of the SQLite file of a closed server'] ?? assert.fail())
  await issueCredentials(place.server)
  for (const round of [1, 2]) {
    await place.server.context.store.recordEvent({ event: 'server.backed-up' })
    await place.restart(undefined)
    assert.deepEqual([(await ready(place.server)).statusCode, isOriginal(place.server)], [200, true], `${round}`)
  }
  await place.server.close()
  const copied = join(temporaryFolder(t), 'copy')
  cpSync(place.server.folder, copied, { recursive: true })
  const staging = await openTestServer(t, { folder: copied })
  await staging.context.store.recordEvent({ event: 'server.backed-up' })
  await staging.close()
  await place.restart(undefined)
  assert.equal((await ready(place.server)).statusCode, 200, 'the folder that was copied')
  await place.server.close()
  // The memory of another store.
  cpSync(`${copied}/grantor.db.state`, `${copied}/kept`)
  rmSync(`${copied}/grantor.secret`)
  rmSync(`${copied}/grantor.db`)
  placeBlankDatabase(`${copied}/grantor.db`)
  const fresh = await openTestServer(t, { folder: copied })
  assert.equal((await ready(fresh)).statusCode, 200, 'a new store')
  await fresh.close()
  cpSync(`${copied}/kept`, `${copied}/grantor.db.state`)
  const other = await openTestServer(t, { folder: copied })
  assert.equal((await ready(other)).statusCode, 200, 'another store')
  await other.close()
  // The newest link is older than everything that is kept.
  const memory = { eras: ['x'], link: undefined, isUnconfirmed: false, begunAs: 'http://localhost:3000' }
  for (const text of ['', 'not JSON', JSON.stringify(memory)]) {
    writeFileSync(place.stateFile, text)
    await place.restart(undefined)
    assert.deepEqual([(await ready(place.server)).statusCode, isOriginal(place.server)], [200, false], text)
    await place.server.close()
  }
})

test('BAK-07: nothing is noticed after grantor restore, and after a store has moved to PostgreSQL with its final export', async (t) => {
  const place = await openPlaceOf(t, WAYS['a copy of the SQLite file of a closed server'] ?? assert.fail())
  await issueCredentials(place.server)
  const folder = temporaryFolder(t)
  const runAll = async (...commands: readonly (readonly string[])[]): Promise<void> => {
    await place.server.close()
    for (const words of commands) {
      const { code, stderr } = await place.run(words)
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    }
  }
  const backup = join(folder, 'a.backup')
  await runAll(['backup', '--to', backup], ['user', 'disable', EMAIL], ['restore', '--from', backup, '--replace'])
  await place.restart(undefined)
  assert.equal((await ready(place.server)).statusCode, 200)
  const moved = join(folder, 'moved.export')
  await runAll(['user', 'disable', EMAIL], ['export', '--final', '--to', moved])
  const GRANTOR_SECRET = readFileSync(join(place.server.folder, 'grantor.secret'), 'utf8').trim()
  const next = {
    DATABASE_URL: await openTestDatabase(t),
    GRANTOR_SECRET,
    GRANTOR_STATE_FILE: join(folder, 'of-the-new-place'),
  }
  const imported = await runHere({ environment: next }, ['import', 'grantor', moved])
  assert.equal(imported.code, 0, imported.stderr)
  await place.restart(async () => next)
  assert.deepEqual([(await ready(place.server)).statusCode, isOriginal(place.server)], [200, false])
  assert.match((await place.run(['doctor'])).stdout, /ok +history/)
})

interface RestorablePlace {
  server: TestServer
  readonly environment: Environment
  readonly stateFile: string
  readonly copy: () => Promise<() => Promise<Environment>>
  /** Puts a copy back, between a stop and a start of the server. */
  readonly restart: (putBack: (() => Promise<Environment>) | undefined, meanwhile?: () => void) => Promise<void>
  /** Puts a copy back under the running server, which has seen its own last link in the store before. */
  readonly goBack: (putBack: () => Promise<Environment>) => Promise<void>
  readonly run: (words: readonly string[]) => Promise<Finished>
}

async function openPlaceOf(t: TestContext, way: Way): Promise<RestorablePlace> {
  const folder = temporaryFolder(t)
  const stateFile = join(folder, 'grantor.db.state')
  placeBlankDatabase(join(folder, 'grantor.db'))
  let environment = { ...(await way.environment(t, folder)), GRANTOR_STATE_FILE: stateFile }
  const open = () => openTestServer(t, { folder, env: environment })
  const place: RestorablePlace = {
    server: await open(),
    environment,
    stateFile,
    async copy() {
      const putBack = await way.copy(place.server, environment, t)
      await place.server.close()
      place.server = await open()
      return putBack
    },
    async goBack(putBack) {
      await watchOf(place.server).check()
      await putBack()
      await watchOf(place.server).check()
    },
    async restart(putBack, meanwhile) {
      await place.server.close()
      meanwhile?.()
      if (putBack !== undefined) environment = { ...environment, ...(await putBack()) }
      place.server = await open()
    },
    run: (words) => runHere({ environment }, words),
  }
  return place
}

async function openPostgres(t: TestContext): Promise<Environment> {
  return { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
}

async function copyFiles(server: TestServer, environment: Environment, endings: readonly string[]) {
  const path = databasePath(server)
  for (const ending of endings) if (existsSync(path + ending)) cpSync(path + ending, `${path}.copy${ending}`)
  return async () => {
    for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true })
    for (const ending of endings)
      if (existsSync(`${path}.copy${ending}`)) cpSync(`${path}.copy${ending}`, path + ending)
    return environment
  }
}

/** As a dump and its restore, or a recovery to a point in time, change the rows. */
async function copyRows(_: TestServer, environment: Environment) {
  const { DATABASE_URL: url = '' } = environment
  const schema = `earlier${(copies += 1)}`
  const restoring = await withClient(url, async (client) => {
    const { rows } = await client.query<{ readonly name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'`,
    )
    const names = rows.map(({ name }) => name)
    const copying = names.map((name) => `create table ${schema}.${name} as table public.${name}`)
    await client.query([`create schema ${schema}`, ...copying].join(';'))
    const inserting = names.map((name) => `insert into public.${name} select * from ${schema}.${name}`)
    return ['begin', `truncate ${names.map((name) => `public.${name}`).join()}`, ...inserting, 'commit'].join(';')
  })
  return async () => {
    await execute(url, restoring)
    return environment
  }
}

async function perform<Answer>({ context }: TestServer, name: string, input: object): Promise<Answer> {
  const administration = asAdministrator(context, COMMAND_LINE)
  return (await runTask(administration, findTask(name) ?? assert.fail(name), { ...input }, String)) as Answer
}

async function adaOf({ context }: TestServer): Promise<string | undefined> {
  return (await context.store.findUserByEmail(EMAIL))?.id
}

function watchOf({ context }: TestServer): NodeContext['storeWatch'] {
  return context.storeWatch
}

function ready(server: TestServer) {
  return server.inject({ method: 'GET', url: '/health/ready' })
}

async function keysOf(server: TestServer): Promise<readonly string[]> {
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  return answer.json<{ readonly keys: readonly { readonly kid: string }[] }>().keys.map(({ kid }) => kid)
}

async function assertServesNothing(server: TestServer, { client, tokens }: IssuedCredentials): Promise<void> {
  const answer = await ready(server)
  assert.deepEqual([answer.statusCode, /"reason":"store_went_back"/.test(answer.body)], [503, true], answer.body)
  assert.equal((await server.inject({ method: 'GET', url: '/health/alive' })).statusCode, 200)
  const paths = ['/v2/oauth/jwks', '/.well-known/oauth-authorization-server', '/account', '/version']
  const statuses = await Promise.all([
    ...paths.map(async (url) => (await server.inject({ method: 'GET', url })).statusCode),
    refresh(server, client, tokens.refresh_token ?? '').then(({ statusCode }) => statusCode),
    revoke(server, client, tokens.access_token).then(({ statusCode }) => statusCode),
    server.injectAdmin({ method: 'GET', url: '/admin/v1/users' }).then(({ statusCode }) => statusCode),
  ])
  assert.deepEqual(new Set(statuses), new Set([503]))
  const metrics = await server.injectAdmin({ method: 'GET', url: '/metrics' })
  assert.match(metrics.body, /^grantor_store_went_back 1$/m)
  assert.match(metrics.body, /grantor_requests_total\{endpoint="ready"[^}]*status="503"/)
}

async function assertEnded(
  server: TestServer,
  { client, tokens }: IssuedCredentials,
  kid: string | undefined,
): Promise<void> {
  await watchOf(server).check()
  server.clock.advance(2000)
  assert.equal((await ready(server)).statusCode, 200)
  const refreshed = await refresh(server, client, tokens.refresh_token ?? '')
  assert.equal(refreshed.statusCode, 400, refreshed.body)
  assert.equal(refreshed.json<Tokens & { error: string }>().error, 'invalid_grant')
  assert.equal(await isActive(server, client, tokens.access_token), false)
  const keys = await keysOf(server)
  assert.ok(keys.length > 0 && !keys.includes(kid ?? ''))
}
