import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { PROGRAM } from '../../tools/process/command-line.ts'

/** A server in its own process, as an operator starts it. */
export interface ChildServer {
  readonly origin: string
  /** kill -9; resolves once the process has ended. */
  readonly kill: () => Promise<void>
}

/** Starts the server on a folder and waits until it is ready. It is killed after the test at the latest. */
export async function startChildServer(
  test: Pick<TestContext, 'after'>,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ChildServer> {
  const port = String(await freePort())
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    PORT: port,
    GRANTOR_ADMIN_PORT: 'off',
    DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
    GRANTOR_REGISTRATION_RATE: '1000000',
    LOG_LEVEL: 'info',
    ...settings,
  }
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  test.after(kill)
  await untilReady(child)
  return { origin: `http://localhost:${port}`, kill }
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('The server has no output.')
  const lines = createInterface({ input: child.stdout })
  const ready = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes('server.ready')) resolve()
    })
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The server ended with ${String(code)} before it was ready.`)
  })
  await Promise.race([ready, ended])
  ended.catch(() => undefined) // From now on its end is expected.
}
