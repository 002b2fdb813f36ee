import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createUser } from '../src/admin/users.ts'
import { openRuntime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import { EMAIL, PASSWORD } from '../test/support/flow.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { proveClocks, STEPS, type ClockNode } from './clocks-campaign.ts'
import { openNodeProcess, type NodeProcess } from './node-process.ts'
import { choosePorts } from './ports.ts'
import { describeMachine, readWhole, stopOnSignal } from './run.ts'
import { openTally } from './tally.ts'
import { openVisitor } from './visitor.ts'

/** `npm run prove:clocks`. See docs/proofs.md. */

const LIMIT_MS = 6000
/** A sweep runs every ten seconds. */
const HOLD_MS = 11_000
/** A server with a SQLite file accepts a clock that ran steadily for ten seconds. It is observed for one sweep longer. */
const FILE_HOLD_MS = 21_000
const FOLLOWED_AFTER_MS = 10_000

const { values } = parseArgs({ options: { steps: { type: 'string', default: String(STEPS.length) } } })
const steps = STEPS.slice(-readWhole('steps', values.steps))

stopOnSignal()
const folder = mkdtempSync(join(tmpdir(), 'grantor-clocks-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const agent = new Agent({ keepAlive: true })
const startedAt = performance.now()
const tally = openTally((what) => console.error(`VIOLATION ${what}`))

const postgres = await startPostgres({ settings: {} })
const { url } = await postgres.createDatabase()
const onServer = await openNodes(url, ['node 1', 'node 2', 'node 3'], false)
const inFile = await openNodes(`sqlite:${join(folder, 'grantor.db')}`, ['the node'], true)
await Promise.all([
  proveClocks(
    {
      store: 'PostgreSQL',
      nodes: onServer.nodes,
      steps,
      holdMs: { running: HOLD_MS, restarted: HOLD_MS },
      followedAfterMs: HOLD_MS,
    },
    tally,
  ),
  proveClocks(
    {
      store: 'SQLite',
      nodes: inFile.nodes,
      steps,
      holdMs: { running: FILE_HOLD_MS, restarted: HOLD_MS },
      followedAfterMs: FOLLOWED_AFTER_MS,
    },
    tally,
  ),
])
await Promise.all([...onServer.processes, ...inFile.processes].map((one) => one.stop()))
agent.destroy()
await postgres.remove()

console.log(`${describeMachine()}, 3 nodes on PostgreSQL, 1 on SQLite`)
console.log(`steps: ${steps.map(([name]) => name).join(', ')}`)
console.log(`set while running: ${steps.length * 4}; across a restart: ${steps.length}`)
console.log(`operations checked: ${tally.operations}`)
console.log(`violations: ${tally.violations.length}`)
console.log(`seconds: ${((performance.now() - startedAt) / 1000).toFixed(1)}`)
process.exitCode = tally.violations.length === 0 ? 0 : 1

interface Opened {
  readonly nodes: readonly ClockNode[]
  readonly processes: readonly NodeProcess[]
}

/** Servers on one database, each with a clock of its own. */
async function openNodes(databaseUrl: string, names: readonly string[], restarts: boolean): Promise<Opened> {
  const ports = await choosePorts(names.length)
  const [issuerPort = 0] = ports
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: `http://127.0.0.1:${issuerPort}`,
    GRANTOR_HOST: '127.0.0.1',
    GRANTOR_SECRET: randomBytes(32).toString('base64url'),
    GRANTOR_DRAIN_SECONDS: '0',
    GRANTOR_AUTHORIZATION_RATE: '1000000000',
    GRANTOR_REGISTRATION_RATE: '1000000000',
    LOG_LEVEL: 'error',
  }
  const { context, close } = await openRuntime(readConfig({ ...settings, LOG_LEVEL: 'silent' }))
  await createUser(context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  await close()
  const opened = names.map((name, index) => openNode(name, ports[index] ?? 0, settings, restarts))
  await Promise.all(opened.map(({ server }) => server.start()))
  return { nodes: opened.map(({ node }) => node), processes: opened.map(({ server }) => server) }
}

function openNode(name: string, port: number, settings: Readonly<Record<string, string>>, restarts: boolean) {
  const file = join(folder, `clock-${port}`)
  const setClock = (aheadMs: number): void => writeFileSync(file, String(aheadMs))
  setClock(0)
  const server = openNodeProcess(port, {
    ...settings,
    CLOCK_FILE: file,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'stepping-date.ts')}`,
  })
  const issuerPort = Number(new URL(settings['GRANTOR_ISSUER'] ?? '').port)
  const asked = openVisitor({ port: issuerPort, agent, limitMs: LIMIT_MS })
  asked.port = port
  const node: ClockNode = {
    name,
    asked,
    setClock,
    isReady: async () => (await asked.inject({ method: 'GET', url: '/health/ready' })).statusCode === 200,
    restart: restarts
      ? async () => {
          await server.stop()
          await server.startUntil('/health/alive')
        }
      : undefined,
  }
  return { node, server }
}
