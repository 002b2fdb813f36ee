import assert from 'node:assert/strict'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { findBinaries } from '../../../tools/postgres/binaries.ts'
import { openKeeper, type Keeper } from '../../../tools/postgres/keeper.ts'
import { openChaosProxy } from '../../support/store/chaos-proxy.ts'
import { postJson, refresh, type Tokens } from '../../../tools/flow.ts'
import { execute, startPostgres, type Postgres } from '../../../tools/postgres/postgres.ts'
import { openSession } from '../../support/store/postgres.ts'
import { assertAllRecover, openAskedNode, selectValue, untilAvailable } from '../../support/store/postgres-node.ts'

test('a standby that is promoted has everything that was acknowledged, and the node continues with it', async (t) => {
  const primary = await startPostgres({ settings: { wal_level: 'replica', max_wal_senders: '4', fsync: 'on' } })
  t.after(primary.remove)
  const { name, url } = await primary.createDatabase()
  const standby = await startStandby(t, primary)
  await execute(primary.adminUrl(), `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
  await untilTrue(primary.adminUrl(), `select count(*) = 1 from pg_stat_replication where sync_state = 'sync'`)
  const proxy = await openChaosProxy(t, url)
  const stage = await openAskedNode(t, proxy.url)
  const { server, client, token } = stage

  const given: string[] = []
  const enough = new AbortController()
  const load = Array.from({ length: 4 }, async () => {
    while (!enough.signal.aborted) {
      const answer = await postJson(server, '/v2/oauth/register', {})
      if (answer.statusCode === 201) given.push(answer.json<{ client_id: string }>().client_id)
      else assert.equal(answer.statusCode, 503, answer.body)
    }
  })
  const rotated = (await refresh(server, client, token)).json<Tokens>()
  while (given.length < 20) await new Promise((resolve) => setImmediate(resolve))

  // When asked to write, a standby reports that it is one.
  proxy.repoint(standby(name))
  proxy.cut()
  assert.equal((await stage.asks.redeem()).statusCode, 503)
  await primary.kill()
  await execute(standby(), 'select pg_promote()')
  await untilAvailable('register', stage.asks.register)
  enough.abort()
  await Promise.all(load)

  for (const id of given) assert.ok(await server.context.store.findClient(id as never), id)
  assert.equal(await selectValue(standby(name), 'select count(*) from grants where generation = 1'), '1')
  assert.equal((await refresh(server, client, token)).json<Tokens>().refresh_token, rotated.refresh_token)
  await assertAllRecover(stage)
})

/** A streaming copy of a running cluster, made with the low-level API: few installations include pg_basebackup. */
async function startStandby(t: TestContext, primary: Postgres): Promise<(database?: string) => string> {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-standby-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { uid, gid } = statSync(join(primary.folder, 'data'))
  chownSync(folder, uid, gid)
  const keeper = openKeeper(folder)
  t.after(keeper.close)
  const user = process.getuid?.() === 0 ? { uid, gid } : undefined
  await copyCluster(t, primary, folder)
  const source = new URL(primary.adminUrl())
  const password = decodeURIComponent(source.password).replaceAll(/['\\]/g, '\\$&')
  const connection = `host=127.0.0.1 port=${primary.port} user=postgres password='${password}'`
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '32MB',
    primary_conninfo: connection,
  }
  const command = join(findBinaries(folder, user), 'postgres')
  const port = await onFreePort(keeper, (free) => {
    const pairs = Object.entries({ ...settings, port: free }).flatMap(([key, value]) => ['-c', `${key}=${value}`])
    const readyText = 'database system is ready to accept read-only connections'
    return keeper.run({ command, args: ['-D', join(folder, 'data'), ...pairs], user, readyText })
  })
  source.port = String(port)
  return (database = 'postgres') => {
    source.pathname = database
    return source.href
  }
}

async function onFreePort(keeper: Keeper, start: (port: number) => Promise<void>): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000)
    const from = keeper.log().length
    try {
      await start(port)
      return port
    } catch (error) {
      if (!keeper.log().slice(from).includes('could not bind')) throw error
    }
  }
}

async function copyCluster(t: TestContext, primary: Postgres, folder: string): Promise<void> {
  const session = await openSession(t, primary.adminUrl())
  await session.query(`select pg_backup_start('standby', fast => true)`)
  const data = join(folder, 'data')
  cpSync(join(primary.folder, 'data'), data, {
    recursive: true,
    filter: (path) => !/\/(postmaster\.(pid|opts)|pg_replslot\/.+|pg_wal\/.+)$/.test(path) && existsSync(path),
  })
  const { rows } = await session.query<{ labelfile: string }>(
    'select labelfile from pg_backup_stop(wait_for_archive => false)',
  )
  writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '')
  writeFileSync(join(data, 'standby.signal'), '')
  const { uid, gid } = statSync(join(primary.folder, 'data'))
  for (const path of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })])
    chownSync(join(data, path), uid, gid)
  assert.ok(readFileSync(join(data, 'backup_label'), 'utf8').includes('START WAL LOCATION'))
}

async function untilTrue(url: string, sql: string): Promise<void> {
  while ((await selectValue(url, sql)) !== true);
}
