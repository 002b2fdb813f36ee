import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Children } from './children.ts'

/** The real server, which is measured. */
export interface Subject {
  readonly pid: number
  readonly port: number
  /** The server's settings, for commands on the same store. */
  readonly settings: Readonly<Record<string, string>>
  /** The end of the server's log, which explains a failure. */
  readonly readLog: () => string
  readonly logPath: string
}

export interface SubjectOptions {
  /** The folder of the database and the log, on the disk that is measured. */
  readonly folder: string
  readonly core: number | undefined
  /** The folder to which a CPU profile is written at the end. */
  readonly profileFolder: string | undefined
  /** undefined: the server uses a SQLite file in the folder. */
  readonly databaseUrl: string | undefined
  readonly workers: number
  /** undefined: this Node.js. */
  readonly runtime: string | undefined
  /** The checkout whose sources run. undefined: this one. */
  readonly checkout?: URL
  /** Options of Node.js. */
  readonly nodeArgs?: readonly string[]
  /** Settings besides those of all subjects. */
  readonly settings?: Readonly<Record<string, string>>
}

const HERE = new URL('../', import.meta.url)
const START_LIMIT_MS = 20_000
const LOG_TAIL = 2000

/** Starts the server as `npm start` does, with default settings. Only the rate limits are higher, because one address sends all requests. */
export async function startSubject(children: Children, options: SubjectOptions): Promise<Subject> {
  const { folder, core, profileFolder, workers, runtime } = options
  const port = await findFreePort()
  const wanted: Readonly<Record<string, string>> = {
    PORT: String(port),
    GRANTOR_ADMIN_PORT: 'off',
    GRANTOR_ISSUER: `http://127.0.0.1:${port}`,
    GRANTOR_HOST: '127.0.0.1',
    DATABASE_URL: options.databaseUrl ?? `sqlite:${join(folder, 'grantor.db')}`,
    GRANTOR_SECRET: randomBytes(32).toString('base64url'),
    LOG_LEVEL: 'info',
    GRANTOR_REGISTRATION_RATE: '1000000000',
    GRANTOR_STORED_TOKEN_RATE: '1000000000',
    // Codes are created in advance, so they must not expire before the slice that redeems them.
    GRANTOR_CODE_LIFETIME: '600',
    ...options.settings,
  }
  const checkout = options.checkout ?? HERE
  const settings = knownSettings(checkout, wanted)
  const logPath = join(folder, `server-${port}.log`)
  const child = children.start({
    script: new URL('src/cli/main.ts', checkout),
    runtime,
    args: ['serve', '--workers', String(workers)],
    nodeArgs: [
      ...(options.nodeArgs ?? []),
      ...(profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]),
    ],
    core,
    env: settings,
    logPath,
  })
  const readLog = (): string => readFileSync(logPath, 'utf8').slice(-LOG_TAIL)
  const deadline = performance.now() + START_LIMIT_MS
  while (!(await isReady(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`The server did not start.\n${readLog()}`)
    }
    await delay(50)
  }
  return { pid: child.pid, port, settings, readLog, logPath }
}

/** Removes settings that an older checkout does not know and would refuse. */
function knownSettings(checkout: URL, settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const page = readFileSync(new URL('docs/configuration.md', checkout), 'utf8')
  return Object.fromEntries(Object.entries(settings).filter(([name]) => page.includes(`\`${name}\``)))
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok
  } catch {
    return false
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
