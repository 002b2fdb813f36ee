import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import pg from 'pg'
import { createUser } from '../src/admin/users.ts'
import { openRuntime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import { EMAIL, PASSWORD } from '../test/support/flow.ts'
import { openNodeProcess, type NodeProcess } from './node-process.ts'
import { choosePorts } from './ports.ts'
import { openProxy, type Proxy } from './proxy.ts'

/** Nodes on one PostgreSQL behind a proxy, and one user with an account. */
export interface Stage {
  /** The port of the proxy, to which clients send requests. */
  readonly port: number
  readonly nodes: readonly NodeProcess[]
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

export interface StageOptions {
  /** postgres://… of an empty database. */
  readonly databaseUrl: string
  readonly nodes: number
  readonly drainSeconds: number
  readonly limitMs: number
}

/** The longest allowed retry window, because a retry after an outage must be within it. */
const RETRY_SECONDS = 300

export async function openStage({ databaseUrl, nodes: count, drainSeconds, limitMs }: StageOptions): Promise<Stage> {
  const [port = 0, ...nodePorts] = await choosePorts(count + 1)
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: `http://127.0.0.1:${port}`,
    GRANTOR_HOST: '127.0.0.1',
    GRANTOR_SECRET: randomBytes(32).toString('base64url'),
    GRANTOR_DRAIN_SECONDS: String(drainSeconds),
    GRANTOR_REFRESH_RETRY: String(RETRY_SECONDS),
    GRANTOR_CODE_LIFETIME: '600',
    // One address sends all requests.
    GRANTOR_REGISTRATION_RATE: '1000000000',
    GRANTOR_AUTHORIZATION_RATE: '1000000000',
    GRANTOR_CLIENT_FAILURE_RATE: '1000000000',
    LOG_LEVEL: 'error',
  }
  await addPerson(settings)
  const nodes = nodePorts.map((nodePort) => openNodeProcess(nodePort, settings))
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

async function addPerson(settings: Readonly<Record<string, string>>): Promise<void> {
  const { context, close } = await openRuntime(readConfig({ ...settings, LOG_LEVEL: 'silent' }))
  await createUser(context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  await close()
}
