import { findBun, requireFlowTests } from './bun.ts'
import { openCodeMint, type CodeMint } from './codes.ts'
import type { Children, Cores } from './children.ts'
import { startDatabase, type BenchDatabase } from './database.ts'
import { openEndpoints, type Endpoint } from './endpoints.ts'
import type { Stage } from './measure.ts'
import type { Options } from './options.ts'
import { startPeer } from './peer-subject.ts'
import { startSubject } from './subject.ts'

/** The servers that are measured in one run, each with the data that its load needs. */
export interface Subjects {
  readonly list: readonly MeasuredSubject[]
  /** undefined: the run needs no PostgreSQL. */
  readonly postgresVersion: string | undefined
  /** The ends of the servers' logs. */
  readonly readLogs: () => string
  readonly close: () => Promise<void>
}

export interface MeasuredSubject {
  readonly subject: Stage['subject']
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
export async function startSubjects(
  children: Children,
  folder: string,
  { store, workers, profileFolder, peers, runtime }: Options,
  cores: Cores | undefined,
): Promise<Subjects> {
  if (runtime === 'bun') await requireFlowTests()
  const plans = choosePlans(store, workers).map((plan) =>
    runtime === 'bun' ? { ...plan, name: `${plan.name}, Bun` } : plan,
  )
  const database = store === 'postgres' ? await startDatabase(cores?.generator) : undefined
  const list: MeasuredSubject[] = []
  const mints: CodeMint[] = []
  const logs: (() => string)[] = []
  for (const plan of plans) {
    const place = plan.store === 'postgres' ? await database?.open() : undefined
    const started = await startSubject(children, {
      folder,
      core: cores?.servers,
      profileFolder,
      databaseUrl: place?.url,
      workers: plan.workers,
      runtime: runtime === 'bun' ? findBun() : undefined,
    })
    logs.push(started.readLog)
    const mint = await openCodeMint(started.settings)
    mints.push(mint)
    const endpoints = await openEndpoints(started.port, mint)
    list.push({
      subject: { ...started, name: plan.name, database: place?.watch },
      endpoints: endpoints.map((endpoint) => ({ ...endpoint, gate: gateOf(plan, endpoint) })),
    })
  }
  for (const name of peers) {
    const { pid, description, endpoints } = await startPeer(children, name, cores?.servers)
    list.push({
      subject: { pid, port: description.port, name: `${description.name} ${description.version}`, database: undefined },
      endpoints,
    })
  }
  return {
    list,
    postgresVersion: database?.version,
    readLogs: () => logs.map((readLog) => readLog()).join('\n'),
    close: () => closeAll(children, mints, database),
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

async function closeAll(
  children: Children,
  mints: readonly CodeMint[],
  database: BenchDatabase | undefined,
): Promise<void> {
  for (const mint of mints) await mint.close()
  await children.end()
  await database?.close()
}
