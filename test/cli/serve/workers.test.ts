import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runHere } from '../../support/command.ts'
import {
  openPlace,
  openPostgresPlace,
  run,
  serve,
  untilLogged,
  type Place,
  type RunningServer,
} from '../../support/process.ts'

const WORKERS = ['--workers', '2']
/** The answers to health checks are logged. */
const LOUD = { LOG_LEVEL: 'debug' }
const IMPATIENT = fileURLToPath(new URL('impatient-workers.ts', import.meta.url))

/** The processes that have logged the event so far. */
function pidsOf({ stdout }: RunningServer, event: string): ReadonlySet<number> {
  const lines = stdout().matchAll(/"pid":(\d+),"event":"([^"]+)"/g)
  return new Set([...lines].filter(([, , name]) => name === event).map(([, pid]) => Number(pid)))
}

/**
 * Asks, a new connection each, until that many processes have answered. It waits for the first line of each, because requests
 * meanwhile would only take the time of the processor that the start needs.
 */
async function untilAnswering(server: RunningServer, place: Place, count: number): Promise<ReadonlySet<number>> {
  while (pidsOf(server, 'audit.head').size < count) await once(server.child.stdout ?? server.child, 'data')
  for (;;) {
    const answering = pidsOf(server, 'alive.answered')
    if (answering.size >= count) return answering
    // One that dies may take a connection with it that it was just handed.
    const answer = await fetch(`${place.issuer}/health/alive`, { headers: { Connection: 'close' } }).catch(
      () => undefined,
    )
    assert.equal(answer?.status ?? 200, 200)
    await answer?.arrayBuffer()
  }
}

function assertGone(pid: number): void {
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
}

test('workers share the port, a killed worker is replaced, and none outlives a supervisor that is killed', async (t) => {
  const place = await openPostgresPlace(t)
  const server = await serve(place, { flags: WORKERS, environment: LOUD })
  const [victim = 0] = await untilAnswering(server, place, 2)
  process.kill(victim, 'SIGKILL')
  await untilLogged(server, `"event":"worker.ended","pid":${victim}`)
  const all = await untilAnswering(server, place, 3)
  assert.equal(server.stdout().match(/"server\.ready"/g)?.length, 1, 'Readiness is logged once.')
  server.child.kill('SIGKILL')
  // They write to the same pipe: it closes when the last of them is gone.
  await server.exited
  assert.equal(all.size, 3)
  await assert.rejects(fetch(`${place.issuer}/health/alive`))
})

test('a worker that stops answering is killed and replaced, the others are not, and SIGTERM ends all with exit code 0', async (t) => {
  const place = await openPostgresPlace(t)
  assert.equal((await runHere(place, ['migrate'])).code, 0)
  const server = await serve(place, { command: [process.execPath, IMPATIENT], environment: LOUD })
  const [victim = 0, other = 0] = await untilAnswering(server, place, 2)
  process.kill(victim, 'SIGSTOP')
  await untilLogged(server, `"event":"worker.stuck","pid":${victim}`)
  await untilLogged(server, `"event":"worker.ended","pid":${victim},"code":null,"signal":"SIGKILL"`)
  const all = await untilAnswering(server, place, 3)
  assertGone(victim)
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
  assert.ok(all.has(other))
  for (const pid of all) assertGone(pid)
  assert.equal(server.stdout().match(/"worker\.\w+"/g)?.length, 2)
})

test('Ctrl-C, which every process of the terminal gets, completes pending requests', async (t) => {
  const place = await openPostgresPlace(t)
  const server = await serve(place, { flags: WORKERS, environment: LOUD })
  const pids = await untilAnswering(server, place, 2)
  const body = '{"grant_types":["client_credentials"]}'
  const slow = connect(place.port, '127.0.0.1')
  // 100 Continue is the sign that the server has read the head.
  slow.write(
    `POST /v2/oauth/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  assert.match(String((await once(slow, 'data'))[0]), /^HTTP\/1\.1 100 /)
  for (const pid of [...pids, server.child.pid ?? 0]) process.kill(pid, 'SIGINT')
  const answer = once(slow, 'data')
  slow.write(body)
  assert.match(String((await answer)[0]), /^HTTP\/1\.1 201 [\s\S]*Connection: close/)
  assert.equal((await server.exited).code, 0)
})

test('a failure of all workers to start is reported once, with exit code 1', async (t) => {
  const place = await openPostgresPlace(t)
  const other = createServer().listen(place.port, '127.0.0.1')
  await once(other, 'listening')
  const inUse = await run(place, ['serve', ...WORKERS])
  other.close()
  assert.equal(inUse.code, 1)
  assert.match(
    inUse.stderr,
    /^grantor: Port \d+ is in use.*\ngrantor: The first worker ended before it served: it ended with code 1\.\n$/,
  )
  const environment = { GRANTOR_SECRET: 't'.repeat(32) }
  const otherSecret = await run(place, ['serve', ...WORKERS], { environment })
  assert.equal(otherSecret.code, 1)
  assert.match(otherSecret.stderr, /^grantor: This database was made under another root secret.*\n$/)
})

test('on SQLite several workers are rejected with the reason, and a wrong number is a usage error', async (t) => {
  const place = await openPlace(t)
  for (const [workers, says] of [
    ['2', /^grantor: Several workers need PostgreSQL: a SQLite file has one writer.*\n$/],
    ['0', /auto, or a whole number from 1 to 256/],
    ['many', /auto, or a whole number from 1 to 256/],
  ] as const) {
    const refused = await runHere(place, ['serve', '--workers', workers])
    assert.equal(refused.code, 2, workers)
    assert.match(refused.stderr, says)
  }
  const server = await serve(place, { flags: ['--workers', '1'] })
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
})
