import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The parent of one test cluster: a process of its own, to which postgres.ts gives a folder and orders. It lives as long
 * as the channel to the test process is open. However that process ends, the server is stopped and the folder removed.
 */
export type Order =
  | { readonly kind: 'run'; readonly command: string; readonly args: readonly string[]; readonly user?: OsUser }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }

export type Report =
  | { readonly kind: 'log'; readonly text: string }
  /** The process and all that it started are gone. */
  | { readonly kind: 'ended'; readonly code: number | null }

/** Whom a process runs as. */
export interface OsUser {
  readonly uid: number
  readonly gid: number
}

const STOP_LIMIT_MS = 20_000

const folder = process.argv[2] ?? ''
let running: ChildProcess | undefined

process.on('message', (order: Order) => {
  if (order.kind === 'signal') running?.kill(order.signal)
  else run(order)
})
process.on('disconnect', () => {
  if (running === undefined) return removeFolder()
  running.once('close', removeFolder)
  running.kill('SIGQUIT')
  setTimeout(() => running?.kill('SIGKILL'), STOP_LIMIT_MS).unref()
})

function run({ command, args, user }: Extract<Order, { kind: 'run' }>): void {
  const child = spawn(command, args, {
    ...user,
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running = child
  child.stderr.setEncoding('utf8').on('data', (text: string) => report({ kind: 'log', text }))
  child.once('error', (error) => report({ kind: 'log', text: `${error.message}\n` }))
  // Its children write to the same pipe: it closes when the last of them is gone.
  child.once('close', (code) => {
    running = undefined
    report({ kind: 'ended', code })
  })
}

/** The other side may have ended a moment ago, of which `disconnect` tells soon: then nobody needs to hear it. */
function report(message: Report): void {
  process.send?.(message, undefined, undefined, () => undefined)
}

function removeFolder(): void {
  freeSharedMemory()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** A killed server leaves a few bytes of shared memory, named in the seventh line of its lock file, until it starts again. */
function freeSharedMemory(): void {
  try {
    const lines = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
    const id = lines[6]?.trim().split(/\s+/)[1]
    if (id !== undefined) spawnSync('ipcrm', ['-m', id])
  } catch {
    // It was stopped in order.
  }
}
