import { Agent } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres, type Postgres } from '../../tools/postgres/postgres.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { addUser } from '../../tools/runtime.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import { openProxy, type Proxy } from './proxy.ts'

/** Nodes on one PostgreSQL behind a proxy, and one user with an account. */
export interface Cluster {
  /** The port of the proxy, to which clients send requests. */
  readonly port: number
  readonly nodes: readonly ServerProcess[]
  readonly proxy: Proxy
  /** A connection for reading the stored rows. */
  readonly database: pg.Pool
  /** The HTTP agent of the clients. */
  readonly agent: Agent
  /** The longest time that an answer may take. */
  readonly limitMs: number
  readonly retryMs: number
  /** The settings of the nodes, for commands on the same store. */
  readonly settings: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export interface ClusterOptions {
  /** postgres://… of an empty database. The nodes take turns with the addresses. */
  readonly databaseUrls: readonly string[]
  readonly nodes: number
  readonly drainSeconds: number
  readonly limitMs: number
}

/** The longest time within which a node must answer. */
const LIMIT_MS = 6000
/** The longest allowed retry window, because a retry after an outage must be within it. */
const RETRY_SECONDS = 300

/** Runs a campaign on a new cluster with a PostgreSQL that syncs its commits. */
export async function withCluster<Result>(
  options: Pick<ClusterOptions, 'nodes' | 'drainSeconds'>,
  campaign: (cluster: Cluster, postgres: Postgres) => Promise<Result>,
): Promise<Result> {
  const postgres = await startPostgres({ settings: { fsync: 'on' } })
  const { url } = await postgres.createDatabase()
  const cluster = await openCluster({ ...options, databaseUrls: [url], limitMs: LIMIT_MS })
  const result = await campaign(cluster, postgres)
  await cluster.close()
  await postgres.remove()
  return result
}

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { databaseUrls, nodes: count, drainSeconds, limitMs } = options
  const [databaseUrl = ''] = databaseUrls
  const folder = openFolder()
  const [port = 0, ...nodePorts] = await freePorts(count + 1)
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: `http://127.0.0.1:${port}`,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_DRAIN_SECONDS: String(drainSeconds),
    GRANTOR_REFRESH_RETRY: String(RETRY_SECONDS),
    // Requests name the networks that they come from.
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    GRANTOR_CODE_LIFETIME: '600',
    GRANTOR_DEVICE_GRANT: 'on',
    // One address sends all requests.
    GRANTOR_REGISTRATION_RATE: '1000000000',
    GRANTOR_AUTHORIZATION_RATE: '1000000000',
    GRANTOR_CLIENT_FAILURE_RATE: '1000000000',
    LOG_LEVEL: 'error',
    // With the cache a process starts in half the time.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compile-cache'),
  }
  await addUser(settings)
  const nodes = nodePorts.map((nodePort, index) =>
    openServerProcess({
      port: nodePort,
      folder,
      settings: { ...settings, DATABASE_URL: databaseUrls[index % databaseUrls.length] ?? databaseUrl },
    }),
  )
  const agent = new Agent({ keepAlive: true })
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // The campaigns kill the server while this client is connected.
  database.on('error', () => undefined)
  const proxy = await openProxy(port, nodePorts)

  async function close(): Promise<void> {
    agent.destroy()
    for (const node of nodes) node.kill()
    await Promise.all([proxy.close(), database.end()])
  }

  try {
    await Promise.all(nodes.map((node) => node.start()))
  } catch (cause) {
    await close()
    throw cause
  }
  return { port, nodes, proxy, database, agent, limitMs, retryMs: RETRY_SECONDS * 1000, settings, close }
}
