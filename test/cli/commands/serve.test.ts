import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runHere, runJsonHere } from '../../support/command.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openPlace, run, serve, withDatabase, type Place } from '../../support/process.ts'
import { PROGRAM } from '../../../tools/process/command-line.ts'
import { execute } from '../../../tools/postgres/postgres.ts'

interface Ready {
  readonly event: string
  readonly issuer: string
  readonly version: string
  readonly try?: string
}

function readyEvent(stdout: string): Ready {
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Ready)
  const ready = events.find(({ event }) => event === 'server.ready')
  assert.ok(ready)
  return ready
}

async function connection(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host)
  await once(socket, 'connect')
  return socket
}

/** Resolves once nothing new is accepted. */
async function refusal(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    if ((await once(socket, 'connect').catch(() => 'refused')) === 'refused') return
    socket.destroy()
  }
}

const BODY = '{"grant_types":["client_credentials"]}'
const HEAD = [
  'POST /v2/oauth/register HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
  '',
  '',
].join('\r\n')

/** What a shell prints for a request that the server printed. */
function runRequest(request: string): Readonly<Record<string, unknown>> {
  const { stdout, stderr } = spawnSync('sh', ['-c', request], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}

test('serve --json says in a line of JSON why it cannot start', async (t) => {
  const place = await openPlace(t)
  const { code, stdout, stderr } = await runHere(place, ['serve', '--json'], { environment: { PORT: 'x' } })
  assert.deepEqual([code, stderr, stdout.split('\n').length], [1, '', 2])
  const { event, message } = JSON.parse(stdout) as { readonly event: string; readonly message: string }
  assert.equal(event, 'server.start-failed')
  assert.match(message, /PORT must be/)
})

test('serve on a port that is taken creates no store, in whose place commands would find nothing', async (t) => {
  const place = await openPlace(t)
  for (const setting of ['PORT', 'GRANTOR_ADMIN_PORT'] as const) {
    const taken = createServer().listen(Number(place.environment[setting]), '127.0.0.1')
    await once(taken, 'listening')
    const { code, stderr } = await runHere(place, ['serve'])
    taken.close()
    await once(taken, 'close')
    assert.equal(code, 1)
    assert.match(stderr, /is in use by another process/)
    assert.deepEqual(readdirSync(place.folder), [], setting)
  }
})

test('without a terminal serve prints only JSON lines, creates no demo, and logs a request that registers a client', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place)
  const ready = readyEvent(server.stdout())
  assert.equal(ready.issuer, place.issuer)
  assert.match(ready.version, /^\d+\.\d+\.\d+/)
  assert.equal(runRequest(ready.try ?? '')['client_name'], 'First steps')
  const { users } = await runJsonHere<{ readonly users: unknown }>(place, ['user', 'list'])
  assert.deepEqual(users, [])

  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
  const second = await serve(place)
  assert.equal(readyEvent(second.stdout()).try, undefined, 'The second start says nothing to a newcomer.')
})

const TERMINAL = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.stdout, 'isTTY', { value: true })")}`
const ON_TERMINAL = [process.execPath, '--import', TERMINAL, PROGRAM] as const

test('the first start on a terminal creates a user whose address is verified, prints the password, and creates nothing else', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place, { command: ON_TERMINAL, environment: { LOG_LEVEL: 'info', NO_COLOR: '1' } })
  const [, email = '', password = ''] = /Sign in +(\S+) with the password (\S+) /.exec(server.stdout()) ?? []
  assert.doesNotMatch(server.stdout(), /^curl /m)
  const { users } = await runJsonHere<{ users: readonly Readonly<Record<string, unknown>>[] }>(place, ['user', 'list'])
  assert.deepEqual(
    users.map((user) => [user['email'], typeof user['email_verified_at']]),
    [['demo@example.com', 'string']],
  )
  const { roles } = await runJsonHere<{ roles: readonly object[] }>(place, ['role', 'list'])
  assert.partialDeepStrictEqual(roles, [{ access: 'write', loopback_only: true }])
  assert.partialDeepStrictEqual(await runJsonHere(place, ['client', 'list']), { clients: [] })
  // What a server did by itself is no command, which servers would log again at each start.
  const { events } = await runJsonHere<{ events: readonly { event: string; actor: string }[] }>(place, [
    'audit',
    'list',
  ])
  assert.deepEqual(
    events.filter(({ actor }) => actor !== null).map(({ event, actor }) => [event, actor]),
    [
      ['role.set', 'server'],
      ['user.created', 'server'],
    ],
  )
  const flow = ['perform', 'authorization-code', '--email', email, '--password', password]
  assert.partialDeepStrictEqual(await runJsonHere(place, flow), { claims: { iss: place.issuer } })
})

test('a start on a terminal creates no demo in a store that has a client', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['client', 'create', '--name', 'Machine', '--grant-type', 'client_credentials'])
  const server = await serve(place, { command: ON_TERMINAL, environment: { LOG_LEVEL: 'info', NO_COLOR: '1' } })
  assert.doesNotMatch(server.stdout(), /curl .*-u|Sign in/)
})

for (const [title, host, signals] of [
  ['SIGTERM', '127.0.0.1', ['SIGTERM']],
  ['SIGINT twice within a second, as npm sends it, to a server that is also on ::1', '::1', ['SIGINT', 'SIGINT']],
] as const) {
  test(`${title}: pending requests are answered, idle connections close, and the exit code is 0`, async (t) => {
    const place = await openPlace(t)
    const server = await serve(place)
    const idle = await connection(place.port, host)
    idle.write('GET /health/alive HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.match(String((await once(idle, 'data'))[0]), /^HTTP\/1\.1 200 /)
    const slow = await connection(place.port, host)
    slow.write(HEAD + BODY.slice(0, 5))
    // The server has read the head of the slow request before it answers this one.
    assert.equal((await fetch(`${place.issuer}/health/ready`)).status, 200)
    const idleClosed = once(idle.resume(), 'close')
    for (const signal of signals) server.child.kill(signal)
    await idleClosed
    await refusal(place.port)
    const answer = once(slow, 'data')
    slow.write(BODY.slice(5))
    assert.match(String((await answer)[0]), /^HTTP\/1\.1 201 /)
    assert.equal((await server.exited).code, 0)
    assert.equal(existsSync(join(place.folder, 'grantor.db-wal')), false, 'The store was closed.')
  })
}

test('a node with a public issuer starts while users and clients cannot be read, because they are on a machine that is down', async (t) => {
  const url = await openMigratedDatabase(t)
  await execute(url, 'revoke select on users, clients from current_user')
  const environment = { GRANTOR_ISSUER: 'https://auth.example.com', GRANTOR_HOST: '127.0.0.1' }
  const server = await serve(withDatabase(await openPlace(t), url), { environment })
  assert.equal(readyEvent(server.stdout()).issuer, environment.GRANTOR_ISSUER)
})

const WRONG: readonly (readonly [why: string, prepare: (place: Place) => Record<string, string>, says: RegExp])[] = [
  [
    'every mistake in the configuration',
    () => ({ PORT: '0', GRANTOR_SECRET: 'short', GRANTOR_NMAE: 'x' }),
    /PORT .*\n.*GRANTOR_SECRET .*32.*\n.*GRANTOR_NMAE is not a setting/,
  ],
  [
    'a folder in the way of the database',
    ({ folder }) => {
      mkdirSync(join(folder, 'grantor.db'))
      return {}
    },
    /grantor\.db is not a file/,
  ],
  [
    'a file in the way of the folder',
    ({ folder }) => {
      writeFileSync(join(folder, 'data'), '')
      return { DATABASE_URL: `sqlite:${join(folder, 'data', 'grantor.db')}` }
    },
    /is a file, not a folder|exists/,
  ],
  [
    'a file that is no database',
    ({ folder }) => {
      writeFileSync(
        join(folder, 'grantor.db'),
        'not a database, and long enough to be read as a header of one'.repeat(20),
        {
          mode: 0o600,
        },
      )
      return {}
    },
    /not a SQLite database/,
  ],
  [
    'a database that others may read',
    ({ folder }) => {
      writeFileSync(join(folder, 'grantor.db'), '')
      chmodSync(join(folder, 'grantor.db'), 0o644)
      return {}
    },
    /chmod 600/,
  ],
]

test('a failure to start is one message and exit code 1', async (t) => {
  await Promise.all(
    WRONG.map(([why, prepare, says]) =>
      t.test(why, async (part) => {
        const place = await openPlace(part)
        const finished = await runHere(place, ['serve'], { environment: prepare(place) })
        assert.equal(finished.code, 1, finished.stderr)
        assert.match(finished.stderr, says)
        assert.doesNotMatch(finished.stderr, /\n {4}at |bug in Grantor/)
      }),
    ),
  )
})

test('a process that cannot listen ends, and says that the host is not of this machine', async (t) => {
  const finished = await run(await openPlace(t), ['serve'], { environment: { GRANTOR_HOST: '192.0.2.1' } })
  assert.equal(finished.code, 1)
  assert.match(finished.stderr, /^grantor: .*not an address of this machine.*GRANTOR_HOST.*\n$/)
})

test('a port that is in use is reported, on either loopback address', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const place = await openPlace(t)
    const other = createServer().listen(place.port, host)
    await once(other, 'listening')
    const finished = await runHere(place, ['serve'])
    other.close()
    assert.equal(finished.code, 1)
    assert.match(finished.stderr, new RegExp(`^grantor: Port ${place.port} is in use.*PORT\\.\n$`))
  }
})

test('decision 0003: every command rejects a database that was created with another secret', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['migrate'])
  const environment = { GRANTOR_SECRET: 'another secret that is long enough for one' }
  for (const words of [['serve'], ['user', 'list']]) {
    const finished = await runHere(place, words, { environment })
    assert.equal(finished.code, 1)
    assert.match(finished.stderr, /^grantor: This database was made under another root secret.*GRANTOR_SECRET.*\n$/)
  }
})

test('migrate creates the database, and reports when there is nothing to do', async (t) => {
  const place = await openPlace(t)
  const first = await runJsonHere<{ applied: readonly number[]; version: number }>(place, ['migrate'])
  assert.equal(first.applied.at(-1), first.version)
  assert.match((await runHere(place, ['migrate'])).stdout, /is up to date \(version \d+\)/)
})

const BIN = fileURLToPath(new URL('../../../bin/grantor.js', import.meta.url))
// The system's own Node, where there is an older one, or ours.
const SYSTEM_NODE = existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath

test('bin/grantor.js runs on the Node of the system, forwards signals and exits with the code of the server', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place, { command: [SYSTEM_NODE, BIN] })
  assert.equal((await fetch(`${place.issuer}/health/ready`)).status, 200)
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
  await assert.rejects(connection(place.port), 'The server itself has ended too.')
})
