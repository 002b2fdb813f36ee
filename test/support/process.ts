import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { COMPILE_CACHE } from './runner/compile-cache.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { PROGRAM } from '../../tools/process/command-line.ts'
import { openTestDatabase } from './store/postgres.ts'

/** The real command line in processes of its own, over one temporary folder. */

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What all processes of a test share. */
export interface Place {
  readonly folder: string
  readonly port: number
  readonly adminPort: number
  readonly issuer: string
  readonly environment: Readonly<Record<string, string>>
  /** End the servers before the folder goes: one that still writes would put something into it meanwhile. */
  readonly endings: Set<() => Promise<void>>
}

export interface RunOptions {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

export interface RunningServer {
  readonly child: ChildProcess
  /** Everything printed so far. */
  readonly stdout: () => string
  readonly exited: Promise<Finished>
}

export async function openPlace(test: Pick<TestContext, 'after'>): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  const endings = new Set<() => Promise<void>>()
  test.after(async () => {
    await Promise.all([...endings].map((ending) => ending()))
    rmSync(folder, { recursive: true, force: true })
  })
  const port = await freePort()
  const adminPort = await freePort()
  const { PATH = '', HOME = '/' } = process.env
  const environment = {
    PATH,
    HOME,
    PORT: String(port),
    GRANTOR_ADMIN_PORT: String(adminPort),
    DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
    // No process checks its readiness.
    GRANTOR_DRAIN_SECONDS: '0',
    // Halves the time that a process needs to start.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  }
  return { folder, port, adminPort, issuer: `http://localhost:${port}`, environment, endings }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Runs one command to its end. */
export async function run(place: Place, words: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = start(place, [PROGRAM, ...words], options)
  child.stdin?.on('error', () => undefined).end(options.input ?? '')
  return finish(child)
}

/** A place with a PostgreSQL of its own. */
export async function openPostgresPlace(t: TestContext): Promise<Place> {
  return withDatabase(await openPlace(t), await openTestDatabase(t))
}

export function withDatabase(place: Place, url: string): Place {
  const settings = { DATABASE_URL: url, GRANTOR_SECRET: 'a secret that is long enough for this' }
  return { ...place, environment: { ...place.environment, ...settings } }
}

/** Starts a server and waits until it is ready. */
export async function serve(
  place: Place,
  options: RunOptions & {
    readonly command?: readonly [file: string, ...words: string[]]
    /** The arguments after `serve`. */
    readonly flags?: readonly string[]
  } = {},
): Promise<RunningServer> {
  const [file, ...words] = options.command ?? [process.execPath, PROGRAM]
  const child = start(place, [...words, 'serve', ...(options.flags ?? [])], options, file)
  let stdout = ''
  const exited = finish(child)
  place.endings.add(() => end(child))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.includes('"server.ready"')) resolve()
    })
    exited.then(({ code, stderr }) => reject(new Error(`The server ended with ${code}: ${stderr}`)), reject)
  })
  return { child, stdout: () => stdout, exited }
}

function start(place: Place, words: readonly string[], options: RunOptions, file = process.execPath): ChildProcess {
  return spawn(file, words, { cwd: place.folder, env: { ...place.environment, ...options.environment } })
}

async function finish(child: ChildProcess): Promise<Finished> {
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => void (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => void (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

export async function untilLogged(server: RunningServer, text: string): Promise<void> {
  while (!server.stdout().includes(text)) await once(server.child.stdout ?? server.child, 'data')
}
