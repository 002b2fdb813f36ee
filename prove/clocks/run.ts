import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { startPostgres } from '../../tools/postgres.ts'
import { freePorts } from '../../tools/free-ports.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { addUser } from '../../tools/runtime.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/server-process.ts'
import { beginSession, openFolder } from '../../tools/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveClocks, STEPS, type ClockNode } from './campaign.ts'
import { proveSequences, SEQUENCES } from './sequences.ts'

/** `npm run prove:clocks`. See docs/proofs.md. */

const LIMIT_MS = 6000
/** A sweep runs every ten seconds. */
const HOLD_MS = 11_000
/** A server with a SQLite file accepts a clock that ran steadily for ten seconds. It is observed for one sweep longer. */
const FILE_HOLD_MS = 21_000
const FOLLOWED_AFTER_MS = 10_000

const { steps: count, sequences: sequenceCount } = readOptions('prove:clocks', {
  steps: whole('the last steps of the list', STEPS.length, [0, STEPS.length]),
  sequences: whole('the first sequences of a clock that is ahead, and a revocation', SEQUENCES.length, [
    0,
    SEQUENCES.length,
  ]),
})
const steps = count === 0 ? [] : STEPS.slice(-count)
const sequences = SEQUENCES.slice(0, sequenceCount)
beginSession()
const folder = openFolder()
const agent = new Agent({ keepAlive: true })
const findings = openFindings()
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
const [onFile] = inFile.nodes
const issuing = onFile === undefined ? 0 : await proveSequences(onFile, inFile.settings, sequences, findings)
await Promise.all([...onServer.processes, ...inFile.processes].map((one) => one.stop()))
agent.destroy()
await postgres.remove()
const lines = [
  `steps: ${steps.map(([name]) => name).join(', ')}`,
  `set while running: ${steps.length * 4}; across a restart: ${steps.length}`,
  `sequences: ${sequences.length}, of which ${issuing} issued something while the clock was ahead`,
  `operations checked: ${findings.operations}`,
]
printReport('3 nodes on PostgreSQL, 1 on SQLite', lines, findings)

interface Opened {
  readonly nodes: readonly ClockNode[]
  readonly processes: readonly ServerProcess[]
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
  const opened = names.map((name, index) => openNode(name, ports[index] ?? 0, settings, restarts))
  await Promise.all(opened.map(({ server }) => server.start()))
  return { nodes: opened.map(({ node }) => node), processes: opened.map(({ server }) => server), settings }
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
