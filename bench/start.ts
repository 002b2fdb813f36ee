import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openRuntime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import { freePort } from '../test/support/free-port.ts'
import { beginBench } from './begin.ts'
import { fillSqlite } from './growth-fill.ts'
import { readWhole } from './option-values.ts'
import { readTreeUsage } from './process-tree.ts'
import { quantile } from './statistics.ts'
import { renderTable } from './table.ts'

/**
 * `npm run bench:start -- --clients 1000000` measures the time from the start of the `grantor serve` process until it is ready, and
 * its memory when it is idle. It uses an empty SQLite file and one with that many clients, families and codes.
 */

const IDLE_MS = 5000
const LIMIT_MS = 30_000
const MOST_FILLING_MS = 15 * 60_000
const { values } = parseArgs({
  options: { clients: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '7' } },
})
const clients = readWhole('clients', values.clients, 1, 1e8)
const rounds = readWhole('rounds', values.rounds, 1, 100)
const { folder, children } = beginBench(MOST_FILLING_MS + 2 * rounds * (IDLE_MS + LIMIT_MS))

const rows: string[][] = []
for (const size of [0, clients]) {
  const path = join(folder, `${size}.db`)
  const settings = { DATABASE_URL: `sqlite:${path}`, GRANTOR_SECRET: randomBytes(32).toString('base64url') }
  await (await openRuntime(readConfig({ ...settings, LOG_LEVEL: 'silent' }))).close()
  if (size > 0) fillSqlite(path, { rows: size, now: Date.now() })
  const starts: { readonly readyMs: number; readonly idleMegabytes: number }[] = []
  for (let round = 0; round < rounds; round += 1) starts.push(await startOnce(settings))
  const [ready, idle] = [starts.map((one) => one.readyMs), starts.map((one) => one.idleMegabytes)]
  rows.push([
    size === 0 ? 'empty' : String(size),
    ...[Math.min(...ready), quantile(ready, 0.5), Math.max(...ready)].map((ms) => ms.toFixed(0)),
    quantile(idle, 0.5).toFixed(0),
  ])
}
await children.end()
console.log(renderTable(['clients', 'ready ms, best', 'median', 'worst', 'idle RSS MB'], rows))

async function startOnce(settings: Readonly<Record<string, string>>) {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = children.start({
    script: new URL('../bin/grantor.js', import.meta.url),
    args: ['serve'],
    core: undefined,
    env: {
      ...settings,
      PORT: String(port),
      GRANTOR_ISSUER: issuer,
      GRANTOR_HOST: '127.0.0.1',
      GRANTOR_ADMIN_PORT: 'off',
    },
    logPath: join(folder, 'server.log'),
  })
  while (!(await isReady(port))) {
    if (child.exitCode !== null || performance.now() - startedAt > LIMIT_MS)
      throw new Error('The server did not start.')
    await delay(2)
  }
  const readyMs = performance.now() - startedAt
  await delay(IDLE_MS)
  const idleMegabytes = (readTreeUsage(child.pid)?.residentBytes ?? Number.NaN) / 1e6
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
  return { readyMs, idleMegabytes }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path: '/health/ready' }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
      .on('error', () => resolve(false))
      .end()
  })
}
