import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { addUser } from '../../tools/runtime.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveClocks, STEPS, type ClockNode } from './campaign.ts'
import { proveSequences, SEQUENCES, type SequencePlace } from './sequences.ts'

/** Clocks that step by minutes, hours and years, on both stores. See docs/proofs.md. */

const LIMIT_MS = 6000
const CLOSED_LIMIT_MS = 20_000
/** A sweep runs every ten seconds. */
const HOLD_MS = 11_000
/** A server with a SQLite file accepts a clock that ran steadily for ten seconds. It is observed for one sweep longer. */
const FILE_HOLD_MS = 21_000
const FOLLOWED_AFTER_MS = 10_000

const { steps: count, sequences: sequenceCount } = readOptions({
  steps: whole('the last steps of the list', STEPS.length, [0, STEPS.length]),
  sequences: whole('the first sequences of a wrong clock, and a revocation', SEQUENCES.length, [0, SEQUENCES.length]),
})
const steps = count === 0 ? [] : STEPS.slice(-count)
const sequences = SEQUENCES.slice(0, sequenceCount)
beginSession()
const folder = openFolder()
const agent = new Agent({ keepAlive: true })
const findings = openFindings()
/** The servers that are stopped at the end. */
const running: ServerProcess[] = []
const postgres = await startPostgres({ settings: {} })
const { url } = await postgres.createDatabase()
const onServer = await openNodes(url, ['node 1', 'node 2', 'node 3'], false)
const inFile = await openNodes(`sqlite:${join(folder, 'grantor.db')}`, ['the node'], true)
const [onServerTimes, inFileTimes] = [
  { holdMs: { running: HOLD_MS, restarted: HOLD_MS }, followedAfterMs: HOLD_MS },
  { holdMs: { running: FILE_HOLD_MS, restarted: HOLD_MS }, followedAfterMs: FOLLOWED_AFTER_MS },
]
await Promise.all([
  proveClocks({ store: 'PostgreSQL', nodes: onServer.nodes, steps, ...onServerTimes }, findings),
  proveClocks({ store: 'SQLite', nodes: inFile.nodes, steps, ...inFileTimes }, findings),
])
const issuing = await Promise.all([
  proveSequences(placeOf('PostgreSQL', onServer), sequences, findings),
  proveSequences(placeOf('SQLite', inFile), sequences, findings),
])
await Promise.all(running.map((one) => one.stop()))
agent.destroy()
await postgres.remove()
const lines = [
  `steps: ${steps.map(([name]) => name).join(', ')}`,
  `set while running: ${steps.length * 4}; across a restart: ${steps.length}`,
  `sequences on each store: ${sequences.length}; they issued something on PostgreSQL, on SQLite: ${issuing.join(', ')}`,
  `operations checked: ${findings.operations}`,
]
printReport('3 nodes on PostgreSQL, 1 on SQLite', lines, findings)

interface Opened {
  readonly nodes: readonly ClockNode[]
  readonly settings: Readonly<Record<string, string>>
}

/** Servers on one database, each with a clock of its own. */
async function openNodes(databaseUrl: string, names: readonly string[], restarts: boolean): Promise<Opened> {
  const ports = await freePorts(names.length)
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: `http://127.0.0.1:${ports[0]}`,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_DRAIN_SECONDS: '0',
    GRANTOR_AUTHORIZATION_RATE: '1000000000',
    GRANTOR_REGISTRATION_RATE: '1000000000',
    LOG_LEVEL: 'error',
  }
  await addUser(settings)
  return { nodes: await startNodes(names, ports, settings, restarts), settings }
}

async function startNodes(
  names: readonly string[],
  ports: readonly number[],
  settings: Readonly<Record<string, string>>,
  restarts: boolean,
): Promise<readonly ClockNode[]> {
  const opened = names.map((name, index) => openNode(name, ports[index] ?? 0, settings, restarts))
  await Promise.all(opened.map(({ server }) => server.start()))
  running.push(...opened.map(({ server }) => server))
  return opened.map(({ node }) => node)
}

/** The first node has the wrong clock, and the last one the right one; on SQLite there is one node. */
function placeOf(store: string, { nodes, settings }: Opened): SequencePlace {
  const [wrong, right] = [nodes[0], nodes.at(-1)]
  if (wrong === undefined || right === undefined) throw new Error('There is no node.')
  return {
    store,
    wrong,
    right,
    settings,
    async reopen(changed) {
      // The servers stop by themselves, and a new one listens on the port of the issuer.
      const port = Number(new URL(settings['GRANTOR_ISSUER'] ?? '').port)
      await untilClosed(port)
      for (const one of running.filter(({ settings: own }) => own['DATABASE_URL'] === settings['DATABASE_URL']))
        running.splice(running.indexOf(one), 1)
      const [node] = await startNodes([`${store} after a leak`], [port], changed, false)
      return node ?? wrong
    },
  }
}

async function untilClosed(port: number): Promise<void> {
  const deadline = performance.now() + CLOSED_LIMIT_MS
  while (
    await fetch(`http://127.0.0.1:${port}/health/alive`).then(
      () => true,
      () => false,
    )
  ) {
    if (performance.now() > deadline) throw new Error('A server did not stop after its master key was replaced.')
    await delay(100)
  }
}

function openNode(name: string, port: number, settings: Readonly<Record<string, string>>, restarts: boolean) {
  const file = join(folder, `clock-${port}`)
  const setClock = (aheadMs: number): void => writeFileSync(file, String(aheadMs))
  setClock(0)
  const server = openServerProcess({
    port,
    folder,
    settings: { ...settings, CLOCK_FILE: file },
    nodeArgs: [`--import=${join(import.meta.dirname, 'stepping-date.ts')}`],
  })
  const issuerPort = Number(new URL(settings['GRANTOR_ISSUER'] ?? '').port)
  const remote = openRemoteServer({ port: issuerPort, agent, limitMs: LIMIT_MS })
  remote.port = port
  const node: ClockNode = {
    name,
    server: remote,
    setClock,
    isReady: async () => (await remote.inject({ method: 'GET', url: '/health/ready' })).statusCode === 200,
    restart: restarts
      ? async () => {
          await server.stop()
          await server.start('/health/alive')
        }
      : undefined,
  }
  return { node, server }
}
