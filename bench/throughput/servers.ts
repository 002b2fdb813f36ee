import { stopChildren, type Cores } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { openCodeMint, type CodeMint } from '../codes.ts'
import { openEndpoints, type Endpoint } from '../endpoints.ts'
import { startServer } from '../server.ts'
import { findBun, requireFlowTests } from './bun.ts'
import type { Setup } from './measure.ts'
import type { Options } from './options.ts'
import { startPeer } from './peer-server.ts'

/** The servers that are measured in one run, each with the data that its load needs. */
export interface Servers {
  readonly list: readonly MeasuredServer[]
  /** undefined: the run needs no PostgreSQL. */
  readonly postgresVersion: string | undefined
  /** The ends of the servers' logs. */
  readonly readLogs: () => string
  readonly close: () => Promise<void>
}

export interface MeasuredServer {
  readonly subject: Setup['subject']
  readonly endpoints: readonly Endpoint[]
}

interface Plan {
  readonly name: string
  readonly store: 'sqlite' | 'postgres'
  readonly workers: number
  /** The gates by endpoint. `own`: the gates of the endpoints themselves. */
  readonly gates: Readonly<Record<string, number>> | 'own'
}

const SQLITE: Plan = { name: 'SQLite', store: 'sqlite', workers: 1, gates: 'own' }
const POSTGRES: Plan = {
  name: 'PostgreSQL',
  store: 'postgres',
  workers: 1,
  gates: { register: 0.25, client_credentials: 0.25, refresh: 0.16 },
}

/**
 * If processes are pinned, the database shares the core of the generator, which needs little of it. The node has the other core
 * for itself, as the bare server does.
 */
export async function startServers(
  folder: string,
  { store, workers, profile, peers, runtime }: Options,
  cores: Cores | undefined,
): Promise<Servers> {
  if (runtime === 'bun') await requireFlowTests()
  const database = store === 'postgres' ? await startDatabase(cores?.generator) : undefined
  const list: MeasuredServer[] = []
  const mints: CodeMint[] = []
  const logs: (() => string)[] = []
  for (const plan of choosePlans(store, workers)) {
    const opened = plan.store === 'postgres' ? await database?.open() : undefined
    const server = await startServer({
      folder,
      profile,
      core: cores?.servers,
      databaseUrl: opened?.url,
      workers: plan.workers,
      runtime: runtime === 'bun' ? findBun() : undefined,
    })
    logs.push(server.readLog)
    const mint = await openCodeMint(server.settings)
    mints.push(mint)
    const endpoints = await openEndpoints(server.port, mint)
    const { pid, port } = server
    const name = runtime === 'bun' ? `${plan.name}, Bun` : plan.name
    list.push({
      subject: { pid, port, name, database: opened?.watch },
      endpoints: endpoints.map((endpoint) => ({ ...endpoint, gate: gateOf(plan, endpoint) })),
    })
  }
  for (const peer of peers) {
    const { pid, description, endpoints } = await startPeer(peer, cores?.servers)
    const { port, name, version } = description
    list.push({ subject: { pid, port, name: `${name} ${version}`, database: undefined }, endpoints })
  }
  return {
    list,
    postgresVersion: database?.version,
    readLogs: () => logs.map((readLog) => readLog()).join('\n'),
    async close() {
      for (const mint of mints) await mint.close()
      await stopChildren()
      await database?.close()
    },
  }
}

function choosePlans(store: Options['store'], workers: number): readonly Plan[] {
  if (store === 'sqlite') return [SQLITE]
  if (workers === 1) return [SQLITE, POSTGRES]
  // Such a run measures the factor between one process and several, so the gates do not apply.
  const gates = {}
  return [1, workers].map((count) => ({
    ...POSTGRES,
    name: `PostgreSQL, ${count === 1 ? '1 process' : `${count} processes`}`,
    workers: count,
    gates,
  }))
}

function gateOf({ gates }: Plan, { name, gate }: Endpoint): number | undefined {
  return gates === 'own' ? gate : gates[name]
}
