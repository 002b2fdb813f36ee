import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { moveSampler, startChild, stopChild, type Child } from './children.ts'
import { PROGRAM } from './command-line.ts'
import { hasStatus, send } from '../send.ts'

/** A server process that is started as an operator starts it. It can be stopped and started again. */
export interface ServerProcess {
  readonly port: number
  /** The process id. @throws Error before the first start */
  readonly pid: number
  /** The server's settings, for commands on the same store. */
  readonly settings: Readonly<Record<string, string>>
  /** The end of the server's log, which explains a failure. */
  readonly readLog: () => string
  readonly logPath: string
  /** Starts the server, and waits until the path returns 200, by default until the server is ready. */
  readonly start: (path?: '/health/ready' | '/health/alive') => Promise<void>
  /** Sends SIGTERM, and returns the milliseconds until the exit. @throws Error if the exit is not clean */
  readonly stop: () => Promise<number>
  /** Kills the process without waiting. */
  readonly kill: () => void
}

export interface ServerOptions {
  readonly port: number
  /** The folder of the log. */
  readonly folder: string
  /** The settings besides the port and the address. Those of an issuer and a root secret replace the usual ones. */
  readonly settings: Readonly<Record<string, string>>
  /** The checkout whose sources run. undefined: this one. */
  readonly checkout?: URL | undefined
  /** The script in the checkout. */
  readonly script?: string
  readonly workers?: number
  readonly core?: number | undefined
  /** undefined: this Node.js. */
  readonly runtime?: string | undefined
  readonly nodeArgs?: readonly string[]
  /** The folder to which a CPU profile is written at the end. */
  readonly profile?: string | undefined
  /** The time between two requests that ask whether the server is ready. */
  readonly pollMs?: number
}

const HERE = new URL('../../', import.meta.url)
const START_LIMIT_MS = 60_000
/** The time that an orchestrator gives a process to exit before it kills it. */
const STOP_LIMIT_MS = 10_000
const POLL_MS = 20
const LOG_TAIL = 4000

/** Prepares a server without starting it. */
export function openServerProcess(options: ServerOptions): ServerProcess {
  const { port, folder, checkout = HERE, workers = 1, profile, pollMs = POLL_MS } = options
  const { script = checkout === HERE ? PROGRAM : 'src/cli/main.ts' } = options
  const settings = knownSettings(checkout, {
    PORT: String(port),
    GRANTOR_ADMIN_PORT: 'off',
    GRANTOR_ISSUER: `http://127.0.0.1:${port}`,
    GRANTOR_HOST: '127.0.0.1',
    GRANTOR_SECRET: newSecret(),
    ...options.settings,
  })
  const logPath = join(folder, `server-${port}.log`)
  const readLog = (): string => readFileSync(logPath, 'utf8').slice(-LOG_TAIL)
  let child: Child | undefined
  const running = (): Child => {
    if (child === undefined) throw new Error('The server is not running.')
    return child
  }
  return {
    port,
    get pid() {
      return running().pid
    },
    settings,
    readLog,
    logPath,
    async start(path = '/health/ready') {
      child = startChild({
        ...options,
        script: new URL(script, checkout),
        args: ['serve', ...(workers === 1 ? [] : ['--workers', String(workers)])],
        nodeArgs: [
          ...(options.nodeArgs ?? []),
          ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
        ],
        env: settings,
        logPath,
      })
      const deadline = performance.now() + START_LIMIT_MS
      while (!hasStatus(await send({ port, path, limitMs: 5000 }), 200)) {
        if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline)
          throw new Error(`The server did not start.\n${readLog()}`)
        await delay(pollMs)
      }
      if (profile !== undefined && options.core !== undefined) moveSampler(running().pid, options.core)
    },
    async stop() {
      const startedAt = performance.now()
      const code = await stopChild(running(), STOP_LIMIT_MS)
      if (code !== 0) throw new Error(`A server ended with ${code ?? 'SIGKILL after ten seconds'}:\n${readLog()}`)
      return performance.now() - startedAt
    },
    kill: () => void child?.kill('SIGKILL'),
  }
}

/** A root secret. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Removes settings that an older checkout does not know and would refuse. Other environment variables stay. */
function knownSettings(checkout: URL, settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const page = readFileSync(new URL('docs/configuration.md', checkout), 'utf8')
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => !name.startsWith('GRANTOR_') || page.includes(`\`${name}\``)),
  )
}
