import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { COMPILE_CACHE } from '../test/support/compile-cache.ts'
import { send } from './send.ts'

/** One node: a server process, started as an operator starts it. */
export interface NodeProcess {
  readonly port: number
  /** Starts the node and waits until this path returns 200. */
  readonly startUntil: (path: '/health/ready' | '/health/alive') => Promise<void>
  /** Starts the node and waits until it is ready. */
  readonly start: () => Promise<void>
  /** Sends SIGTERM, and returns the milliseconds until the exit. @throws Error if the exit is not clean */
  readonly stop: () => Promise<number>
  /** Kills the process without waiting. */
  readonly kill: () => void
}

const MAIN = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
const START_LIMIT_MS = 60_000
/** The time that an orchestrator gives a process to exit before it kills it. */
const STOP_LIMIT_MS = 10_000
const LOG_TAIL = 4000

/** Prepares a node without starting it. */
export function openNodeProcess(port: number, settings: Readonly<Record<string, string>>): NodeProcess {
  let child: ChildProcess | undefined
  let log = ''
  const end = (): void => void child?.kill('SIGKILL')

  async function startUntil(path: string): Promise<void> {
    child = spawn(process.execPath, [MAIN, 'serve', '--json'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: String(port),
        GRANTOR_ADMIN_PORT: 'off',
        // With the cache a process starts in half the time.
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    process.once('exit', end)
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => void (log = (log + chunk.toString()).slice(-LOG_TAIL)))
    await untilAnswered(child, { port, path }, () => log)
  }

  return {
    port,
    startUntil,
    start: () => startUntil('/health/ready'),
    async stop() {
      if (child === undefined) throw new Error('The node is not running.')
      const exited = once(child, 'exit')
      const startedAt = performance.now()
      child.kill('SIGTERM')
      const impatience = setTimeout(end, STOP_LIMIT_MS)
      const [code] = (await exited) as [number | null]
      clearTimeout(impatience)
      process.off('exit', end)
      if (code !== 0) throw new Error(`A node ended with ${code ?? 'SIGKILL after ten seconds'}:\n${log}`)
      return performance.now() - startedAt
    },
    kill() {
      end()
      process.off('exit', end)
    },
  }
}

async function untilAnswered(
  child: ChildProcess,
  place: { readonly port: number; readonly path: string },
  log: () => string,
): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS
  for (;;) {
    const probe = { ...place, method: 'GET', agent: undefined, limitMs: 5000 }
    const reception = await send(probe)
    if (reception.kind === 'answer' && reception.status === 200) return
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline)
      throw new Error(`A node did not start:\n${log()}`)
    await delay(20)
  }
}
