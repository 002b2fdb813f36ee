import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { runHere } from '../support/command.ts'
import { openPlace, run, serve } from '../support/process.ts'
import { registerClient } from '../../tools/flow.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { databasePath, dumpStore, execute, selectAll } from '../support/store/dump.ts'

/** The server refuses to start where it would lose data. */

const PUBLIC = { GRANTOR_HOST: '127.0.0.1' }

test('a database without its secret is refused, and no new secret is created', async (t) => {
  const server = await openTestServer(t)
  await registerClient(server)
  await server.close()
  const before = dumpStore(server)
  const [secret, elsewhere] = [join(server.folder, 'grantor.secret'), join(server.folder, 'elsewhere')]
  renameSync(secret, elsewhere)
  await assert.rejects(server.reopen(), /has no root secret.*No new secret was created/)
  assert.equal(existsSync(secret), false)
  assert.deepEqual(dumpStore(server), before)
  renameSync(elsewhere, secret)
  await assert.doesNotReject(server.reopen())
})

test('a secret beside a missing or an empty database is refused, and neither is changed', async (t) => {
  const server = await openTestServer(t)
  await server.close()
  const path = databasePath(server)
  rmSync(path)
  await assert.rejects(server.reopen(), /is the root secret of a database, but .* is missing/)
  assert.equal(existsSync(path), false)
  writeFileSync(path, '', { mode: 0o600 })
  await assert.rejects(server.reopen(), /but .* is empty/)
  assert.equal(existsSync(join(server.folder, 'grantor.secret')), true)
})

test('an empty place with a secret from the environment is a normal first start', async (t) => {
  const folder = join(temporaryFolder(t), 'data')
  await assert.doesNotReject(openTestServer(t, { folder, env: { GRANTOR_SECRET: 's'.repeat(40) } }))
})

test('a second server on one SQLite file names the first, which kill -9 makes room for', async (t) => {
  const place = await openPlace(t)
  const first = await serve(place)
  const second = await run(place, ['serve', '--json'])
  assert.equal(second.code, 1)
  assert.match(second.stdout, new RegExp(`grantor\\.db is in use by process ${first.child.pid}\\. `))
  assert.equal((await run(place, ['user', 'list'])).code, 0)
  first.child.kill('SIGKILL')
  await first.exited
  await serve(place)
})

test('an older copy of the database beside the log of a server that was killed is refused, and is not changed', async (t) => {
  const server = await openTestServer(t)
  const path = databasePath(server)
  const checkpoint = (): void => {
    const database = new DatabaseSync(path, { timeout: 5000 })
    database.exec('pragma wal_checkpoint(truncate)')
    database.close()
  }
  const register = async (count: number) => {
    for (let one = 0; one < count; one += 1) await registerClient(server)
  }
  const killed = temporaryFolder(t)
  // A process that closes a file releases all its locks on it, so another process copies.
  const take = (from: string, to: string) => execFileSync('cp', ['-p', join(server.folder, from), join(killed, to)])
  await register(20)
  checkpoint()
  take('grantor.db', 'older')
  await register(40)
  checkpoint()
  await register(40)
  // As kill -9 leaves them.
  for (const name of ['grantor.db', 'grantor.db-wal', 'grantor.secret']) take(name, name)
  copyFileSync(join(killed, 'grantor.db'), join(killed, 'right'))
  copyFileSync(join(killed, 'older'), join(killed, 'grantor.db'))
  const older = readFileSync(join(killed, 'older'))
  await assert.rejects(openTestServer(t, { folder: killed }), /is the log of another file/)
  assert.deepEqual(readFileSync(join(killed, 'grantor.db')), older)
  copyFileSync(join(killed, 'right'), join(killed, 'grantor.db'))
  const recovered = await openTestServer(t, { folder: killed })
  assert.equal(selectAll(recovered, 'select client_id from clients').length, 100)
})

for (const [kind, settings] of [
  ['SQLite', async () => ({})],
  [
    'PostgreSQL',
    async (t: Parameters<typeof openMigratedDatabase>[0]) => ({
      DATABASE_URL: await openMigratedDatabase(t),
      GRANTOR_SECRET: 's'.repeat(40),
    }),
  ],
] as const) {
  test(`${kind}: another issuer than that of the store is refused until the operator sets it`, async (t) => {
    const place = await openPlace(t)
    const own = { ...(await settings(t)), ...PUBLIC }
    const [one, other] = [
      { ...own, GRANTOR_ISSUER: 'https://one.acme.test' },
      { ...own, GRANTOR_ISSUER: 'https://other.acme.test' },
    ]
    const open = (env: Readonly<Record<string, string>>) => openTestServer(t, { folder: place.folder, env })
    await (await open(one)).close()
    await assert.rejects(
      open(other),
      /belongs to the issuer https:\/\/one\.acme\.test, .*grantor issuer set https:\/\/other\.acme\.test/,
    )
    await assert.rejects(open({ ...own, GRANTOR_ISSUER: 'http://localhost:3000' }), /belongs to the issuer/)
    const set = ['issuer', 'set', 'https://other.acme.test']
    const wrong = await runHere(place, set, { environment: one })
    assert.deepEqual(
      [wrong.code, wrong.stderr],
      [2, 'grantor: GRANTOR_ISSUER is https://one.acme.test. Set it to the new issuer first.\n'],
    )
    // OP-18: its tokens would be tokens for the server.
    const resource = 'https://OTHER.acme.test/'
    const declared = await runHere(place, ['api', 'create', '--resource', resource], { environment: one })
    assert.equal(declared.code, 0, declared.stderr)
    const kept = await runHere(place, set, { environment: other })
    assert.equal(kept.code, 1)
    assert.match(kept.stderr, /There is an API https:\/\/OTHER\.acme\.test\/, .*another identifier.*grantor api delete/)
    await assert.rejects(open(other), /belongs to the issuer/)
    assert.equal((await runHere(place, ['api', 'delete', resource], { environment: other })).code, 0)
    const { code, stdout, stderr } = await runHere(place, set, { environment: other })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /JWTs name the previous issuer[^]*No user depends on one/)
    await (await open(other)).close()
    await assert.rejects(open(one), /belongs to the issuer https:\/\/other/)
    // A command in another shell has the issuer of the store, unless it has its own.
    const create = ['user', 'create', '--email', 'ada@acme.test', '--no-password']
    assert.equal((await runHere(place, create, { environment: own })).code, 0)
    const link = ['user', 'create-link', 'ada@acme.test']
    const learned = await runHere(place, link, { environment: own })
    assert.match(learned.stdout, /^https:\/\/other\.acme\.test\/account\/link/)
    assert.equal(learned.stderr, '')
    const chosen = await runHere(place, link, { environment: one })
    assert.match(chosen.stdout, /^https:\/\/one\.acme\.test\/account\/link/)
    assert.equal(
      chosen.stderr,
      'grantor: GRANTOR_ISSUER is https://one.acme.test, and the servers of this database have the issuer https://other.acme.test. This command uses GRANTOR_ISSUER.\n',
    )
    // A command whose answer has no address needs no word about it.
    assert.equal((await runHere(place, ['user', 'list'], { environment: one })).stderr, '')
    const same = await runHere(place, ['api', 'create', '--resource', 'https://other.acme.test'], { environment: own })
    assert.match(same.stderr, /is this server/)
    const examined = await runHere(place, ['doctor'], { environment: own })
    assert.match(
      examined.stdout,
      /GRANTOR_ISSUER is not set here, .*is examined: https:\/\/other\.acme\.test\.\n.*https:\/\/other/,
    )
    assert.match(examined.stdout, /https:\/\/other\.acme\.test\/\.well-known\/.* cannot be reached/)
  })
}

test('loopback issuers of different ports share a store', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_ISSUER: 'http://localhost:3000' } })
  await server.close()
  await assert.doesNotReject(
    openTestServer(t, { folder: server.folder, env: { GRANTOR_ISSUER: 'http://127.0.0.1:4000' } }),
  )
})

test('a command does not migrate the store of an older release', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['org', 'create', 'Acme'])
  const server = await openTestServer(t, { folder: place.folder })
  await server.close()
  execute(place, 'update migrations set version = 0')
  for (const words of [
    ['org', 'list'],
    ['org', 'create', 'Other'],
  ]) {
    const { code, stdout, stderr } = await runHere(place, words)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /has the schema of an older release\. Run: grantor migrate\n$/)
  }
})

test('a store of a loopback issuer serves another loopback issuer, and the log and the doctor name both', async (t) => {
  const place = await openPlace(t)
  const [one, other] = ['http://localhost:7743', 'http://localhost:7799']
  const open = (issuer: string) => openTestServer(t, { folder: place.folder, env: { GRANTOR_ISSUER: issuer } })
  const first = await open(one)
  await first.close()
  assert.ok(!first.log().includes('store.of-other-issuer'))
  assert.ok((await open(other)).log().includes(`"event":"store.of-other-issuer","known":"${one}","issuer":"${other}"`))
  const doctor = async (environment: Readonly<Record<string, string>>) =>
    (await runHere(place, ['doctor'], { environment })).stdout
  // The server that started last has the issuer that commands use.
  assert.match(await doctor({ GRANTOR_ISSUER: one }), /have the issuer http:\/\/localhost:7799, and .*:7743\./)
  assert.doesNotMatch(await doctor({ GRANTOR_ISSUER: other }), /have the issuer/)
  await runHere(place, ['user', 'create', '--email', 'ada@acme.test', '--no-password'])
  const link = await runHere(place, ['user', 'create-link', 'ada@acme.test'])
  assert.match(link.stdout, /^http:\/\/localhost:7799\/account\/link/)
  assert.doesNotMatch(await doctor({ GRANTOR_TYPO: '1' }), /\.\./)
})
