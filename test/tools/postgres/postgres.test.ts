import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { installedFolders, linkLibraries } from '../../../tools/postgres/binaries.ts'
import { openKeeper } from '../../../tools/postgres/keeper.ts'
import { openSession, openTestDatabase } from '../../support/store/postgres.ts'
import { startPostgres } from '../../../tools/postgres/postgres.ts'

test('a test database is empty, belongs to an ordinary role and sorts texts as operators’ databases do', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  assert.deepEqual(await rows(client, 'select usesuper from pg_user where usename = current_user'), [[false]])
  assert.deepEqual(await rows(client, "select tablename from pg_tables where schemaname = 'public'"), [])
  await client.query('create table things (id text primary key)')
  await client.query("insert into things values ('B'), ('a'), ('_')")
  const [knowsIcu] = await rows(client, "select count(*) > 0 from pg_collation where collprovider = 'i'")
  const expected = knowsIcu?.[0] === true ? [['_'], ['a'], ['B']] : [['B'], ['_'], ['a']]
  assert.deepEqual(await rows(client, 'select id from things order by id'), expected)
})

test('each test has a database of its own, which is dropped after the other hooks of the test', async (t) => {
  const hooks: (() => unknown)[] = []
  const after = (hook: unknown): void => void hooks.push(hook as () => unknown)
  const [first, second] = await Promise.all([openTestDatabase({ after }), openTestDatabase({ after })])
  assert.notEqual(first, second)
  const client = await openSession(t, first)
  hooks.push(() => client.query('select 1'))
  // Hooks that were added by hooks are included.
  for (const hook of hooks) await hook()
  await assert.rejects(openSession(t, first), { code: '3D000' })
  await assert.rejects(openSession(t, second), { code: '3D000' })
})

test('a server keeps every committed row when it is killed or stopped in either way', async (t) => {
  const postgres = await startPostgres({ settings: { fsync: 'on' } })
  t.after(postgres.remove)
  const { url } = await postgres.createDatabase()
  const create = await openSession(t, url)
  await create.query('create table things (id int primary key)')
  const ends = [postgres.kill, () => postgres.stop('immediate'), () => postgres.stop('fast')]
  for (const [round, end] of ends.entries()) {
    const client = await openSession(t, url)
    assert.deepEqual(await rows(client, 'show fsync'), [['on']])
    await client.query(`insert into things values (${round})`)
    await end()
    await assert.rejects(openSession(t, url), { code: 'ECONNREFUSED' })
    await postgres.start()
    const counted = await rows(await openSession(t, url), 'select count(*)::int from things')
    assert.deepEqual(counted, [[round + 1]])
  }
})

test('a connection needs a password', async (t) => {
  const postgres = await startPostgres()
  t.after(postgres.remove)
  const url = new URL(postgres.adminUrl())
  assert.match(decodeURIComponent(url.password), /@/)
  url.password = 'wrong'
  await assert.rejects(openSession(t, url.href), { code: '28P01' })
})

test('a removed cluster leaves no process and no folder, even if its server had already ended', async () => {
  const [running, killed] = await Promise.all([startPostgres(), startPostgres()])
  const pid = mainProcess(running.folder)
  assert.ok(isAlive(pid))
  await killed.kill()
  await killed.stop('fast')
  await Promise.all([running.remove(), killed.remove()])
  await running.remove()
  assert.ok(!isAlive(pid))
  assert.ok(!existsSync(running.folder))
  assert.ok(!existsSync(killed.folder))
})

test('a program that logs continuously is ended, and its folder is removed', async () => {
  const program = `
    process.on('SIGQUIT', () => process.exit())
    const log = () => process.stderr.write('more\\n', () => setImmediate(log))
    log()`
  for (let round = 0; round < 5; round += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
    const keeper = openKeeper(folder)
    await keeper.run({ command: process.execPath, args: ['--eval', program], user: undefined, readyText: 'more' })
    await keeper.close()
    assert.ok(!existsSync(folder))
  }
})

test('the error of a server that does not start has the reason', async () => {
  await assert.rejects(
    startPostgres({ settings: { nonsense: '1' } }),
    /unrecognized configuration parameter "nonsense"/,
  )
})

test('a killed test process leaves no server running', async () => {
  const program = `
    import { startPostgres } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'tools', 'postgres', 'postgres.ts')).href)}
    console.log((await startPostgres()).folder)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [folder] = (await once(createInterface(child.stdout), 'line')) as [string]
  const pid = mainProcess(folder)
  assert.ok(isAlive(pid))
  child.kill('SIGKILL')
  while (existsSync(folder)) await setTimeout(20)
  assert.ok(!isAlive(pid))
})

test('a process that only started a server ends, and so does the server', async () => {
  const program = `
    import { startPostgres } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'tools', 'postgres', 'postgres.ts')).href)}
    console.log((await startPostgres()).folder)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [folder] = (await once(createInterface(child.stdout), 'line')) as [string]
  assert.deepEqual(await ended, [0, null])
  while (existsSync(folder)) await setTimeout(20)
})

test('an installed PostgreSQL is looked up through pg_config, in the PATH, and by version, the newest first', () => {
  const path = ['/usr/local/bin', '', '/usr/bin'].join(delimiter)
  const versions = ['/usr/lib/postgresql/9.6/bin', '/usr/lib/postgresql/15/bin', '/usr/lib/postgresql/18/bin']
  assert.deepEqual(installedFolders({ configured: '/usr/lib/postgresql/15/bin', path, versions }), [
    '/usr/lib/postgresql/15/bin',
    '/usr/local/bin',
    '/usr/bin',
    '/usr/lib/postgresql/18/bin',
    '/usr/lib/postgresql/9.6/bin',
  ])
  assert.deepEqual(installedFolders({ configured: undefined, path: '', versions: [] }), [])
})

test('missing links between libraries are created, and existing links are kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const native = join(folder, 'native')
  mkdirSync(join(native, 'lib'), { recursive: true })
  linkLibraries(native)
  writeFileSync(join(native, 'lib', 'libpq.so.5.18'), 'a library')
  const links = ['native/lib/libpq.so.5', 'native/lib/libpq.so']
  const list = links.map((target) => ({ source: 'native/lib/libpq.so.5.18', target }))
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(list.slice(0, 1)))
  linkLibraries(native)
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(list))
  linkLibraries(native)
  assert.equal(readlinkSync(join(native, 'lib', 'libpq.so.5')), 'libpq.so.5.18')
  assert.equal(readFileSync(join(native, 'lib', 'libpq.so'), 'utf8'), 'a library')
})

async function rows(client: pg.Client, text: string): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
}

function mainProcess(folder: string): number {
  return Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
