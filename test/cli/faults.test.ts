import assert from 'node:assert/strict'
import fs, { existsSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { Finding } from '../../src/checks/finding.ts'
import type { WriteFault } from '../../src/base/write-fault.ts'
import { execute } from '../../tools/postgres/postgres.ts'
import { runHere, runJsonHere } from '../support/command.ts'
import { openPlace, openPostgresPlace, withDatabase, type Place } from '../support/process.ts'
import { assertNotReady, assertReady, untilReadiness } from '../support/readiness.ts'
import { openTestServer } from '../support/server.ts'

/** What commands and a start do while the store cannot be written, or not be reached: each kind of fault with each kind of command. */

const ADA = 'ada@acme.test'
const READS = [
  ['user', 'list'],
  ['user', 'show', ADA],
  ['key', 'list'],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['migrate', 'status'],
] as const
const CHANGES = [
  ['user', 'disable', ADA],
  ['org', 'create', 'Acme'],
  ['key', 'rotate'],
  ['admin', 'create', '--name', 'Ada', '--access', 'read'],
  ['export', '--final', '--to', 'final.export'],
] as const

interface Fault {
  /** A place with a user. */
  readonly open: (t: TestContext) => Promise<Place>
  /** Returns the function that ends the fault. */
  readonly begin: (t: TestContext, place: Place) => Promise<() => unknown>
  /** Whether commands can read. */
  readonly isReadable: boolean
  /** What a command that changes something says. undefined: the change may still fit into the pages of the file. */
  readonly refusal: RegExp | undefined
  /** What doctor reports as failed. undefined: it changes nothing, so it cannot know. */
  readonly failed: string | undefined
  /** What /health/ready of a server says that starts meanwhile, before it has written anything. undefined: the start is refused. */
  readonly readiness: 'ready' | WriteFault | undefined
}

const READ_ONLY =
  /^grantor: The database accepts no writes: it is a standby, or read-only\. DATABASE_URL must name .*\n$/
const FULL = /^grantor: The disk of the database is full\. Free some space\. .*\n$/
const GONE = /^grantor: PostgreSQL cannot be reached: connect ECONNREFUSED .*\n$/

/** No server listens, and the PostgreSQL of the tests is fast. */
const OTHER = /^issuer|fsync is off/

const FAULTS: Readonly<Record<string, Fault>> = {
  'a full disk of SQLite': {
    open: openPlace,
    begin: async (t) => fillDisk(t),
    isReadable: true,
    refusal: undefined,
    failed: 'disk',
    readiness: 'disk_full',
  },
  'a SQLite file that is read-only': {
    open: openPlace,
    begin: async (t) => denyWrites(t),
    isReadable: true,
    refusal: /^grantor: The disk of the database is read-only\. .*\n$/,
    failed: undefined,
    readiness: undefined,
  },
  'a PostgreSQL that is read-only': {
    open: openPostgresPlace,
    async begin(_t, { environment: { DATABASE_URL: url = '' } }) {
      const name = new URL(url).pathname.slice(1)
      await execute(url, `alter database ${name} set default_transaction_read_only = on`)
      const end = `alter database ${name} reset default_transaction_read_only`
      return () => execute(url, 'set default_transaction_read_only = off', end)
    },
    isReadable: true,
    refusal: READ_ONLY,
    failed: 'database',
    readiness: 'store_read_only',
  },
  'a full disk of PostgreSQL': {
    open: openPostgresPlace,
    async begin(_t, { environment: { DATABASE_URL: url = '' } }) {
      await execute(
        url,
        `create function fail() returns trigger language plpgsql as $$ begin
          raise exception using errcode = 'disk_full', message = 'a test'; end $$`,
        ...['users', 'organizations', 'apis', 'signing_keys', 'admin_credentials', 'settings', 'audit_links'].map(
          (table) => `create trigger fail before insert or update on ${table} for each row execute function fail()`,
        ),
      )
      return () => execute(url, 'drop function fail cascade')
    },
    isReadable: true,
    refusal: FULL,
    failed: undefined,
    readiness: 'ready',
  },
  'a PostgreSQL that is stopped': {
    open: openPostgresPlace,
    begin: async (_t, place) => {
      const { environment } = place
      const before = environment['DATABASE_URL']
      Object.assign(environment, withDatabase(place, 'postgres://ada@127.0.0.1:1/grantor').environment)
      return () => Object.assign(environment, { DATABASE_URL: before })
    },
    isReadable: false,
    refusal: GONE,
    failed: 'database',
    readiness: undefined,
  },
}

for (const [what, fault] of Object.entries(FAULTS)) {
  test(`STO-07: ${what}: commands that read work or say why not, those that change something change nothing, and all recovers`, async (t) => {
    const place = await fault.open(t)
    await runHere(place, ['user', 'create', '--email', ADA, '--password', 'correct horse battery staple'])
    // The first start of a store writes its issuer, and the first request for the keys those that are missing; later ones write nothing.
    const first = await startOn(t, place)
    await first.inject({ url: '/v2/oauth/jwks' })
    await first.close()
    const before = await stateOf(place)
    const end = await fault.begin(t, place)
    const to = (name: string): string => join(place.folder, name)
    for (const words of [...READS, ['export', '--to', to('one.export')], ['backup', '--to', to('one.backup')]]) {
      const { code, stdout, stderr } = await runHere(place, words)
      if (fault.isReadable) assert.deepEqual([words, code, stderr], [words, 0, ''])
      else assert.deepEqual([words, code, stdout, GONE.test(stderr)], [words, 1, '', true])
      const isRecorded = fault.refusal === undefined || !fault.isReadable
      if (words[0] === 'backup')
        assert.equal(/\nWarning: .* The time of this backup is not in/.test(stdout), !isRecorded)
    }
    const doctor = await runHere(place, ['doctor', '--json'])
    const { findings } = JSON.parse(doctor.stdout) as { readonly findings: readonly Finding[] }
    const failed = findings.filter(
      ({ verdict, check, message }) => verdict === 'failed' && !OTHER.test(check + message),
    )
    assert.deepEqual(
      failed.map(({ check, message }) => (check === fault.failed ? check : message)),
      fault.failed === undefined ? [] : [fault.failed],
    )
    if (fault.refusal !== undefined) {
      for (const words of CHANGES) {
        const { code, stderr } = await runHere(
          place,
          words.map((word) => (word === 'final.export' ? to(word) : word)),
        )
        assert.deepEqual([words, code], [words, 1])
        assert.match(stderr, fault.refusal, words.join(' '))
      }
      assert.equal(existsSync(to('final.export')), false)
    }
    if (fault.readiness !== undefined) {
      const server = await startOn(t, place)
      for (const url of ['/v2/oauth/jwks', '/.well-known/oauth-authorization-server'])
        assert.equal((await server.inject({ url })).statusCode, 200)
      await (fault.readiness === 'ready' ? assertReady(server) : assertNotReady(server, fault.readiness))
      await end()
      await untilReadiness(server, undefined)
      await server.close()
    } else {
      // Without PostgreSQL a start waits for a minute.
      if (fault.isReadable) await assert.rejects(startOn(t, place))
      await end()
    }
    if (fault.refusal !== undefined) assert.deepEqual(await stateOf(place), before)
    rmSync(to('one.backup'), { force: true })
    for (const words of [
      ['user', 'disable', ADA],
      ['backup', '--to', to('one.backup')],
      ['audit', 'verify'],
    ]) {
      const { code, stdout, stderr } = await runHere(place, words)
      assert.deepEqual([words, code, stderr, /Warning/.test(stdout)], [words, 0, '', false])
    }
  })
}

/** The users, organizations, keys and events of a store. */
function stateOf(place: Place): Promise<readonly unknown[]> {
  const lists = [
    ['user', 'list'],
    ['org', 'list'],
    ['api', 'list'],
    ['key', 'list'],
    ['audit', 'list'],
  ]
  return Promise.all(lists.map((words) => runJsonHere(place, words)))
}

function startOn(t: TestContext, { environment, folder }: Place) {
  return openTestServer(t, { folder, env: { ...environment, GRANTOR_ADMIN_PORT: 'off' } })
}

/** The system reports that no space is left. What SQLite does on a disk that is really full: prove disk. */
function fillDisk(t: TestContext): () => void {
  const { mock } = t.mock.method(fs, 'statfsSync', () => ({ bavail: 0, bsize: 4096 }))
  syncBuiltinESMExports()
  const end = (): void => {
    mock.restore()
    syncBuiltinESMExports()
  }
  t.after(end)
  return end
}

/** SQLite refuses writes of each connection that is opened from now on with the error of a read-only file. */
function denyWrites(t: TestContext): () => void {
  const exec = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec')?.value as (sql: string) => void
  const opened: DatabaseSync[] = []
  const { mock } = t.mock.method(DatabaseSync.prototype, 'exec', function spy(this: DatabaseSync, sql: string) {
    exec.call(this, sql)
    if (!sql.includes('trusted_schema')) return
    exec.call(this, 'pragma query_only = on')
    opened.push(this)
  })
  return () => {
    mock.restore()
    for (const one of opened) if (one.isOpen) one.exec('pragma query_only = off')
  }
}
