import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The parent process of one test cluster. postgres.ts gives it a folder and commands. It runs until the channel to the test
 * process closes, however that process ends; then it stops the server and removes the folder.
 */
export type Order =
  | { readonly kind: 'run'; readonly command: string; readonly args: readonly string[]; readonly user?: OsUser }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }

export type Report =
  | { readonly kind: 'log'; readonly text: string }
  /** The process and all its children have ended. */
  | { readonly kind: 'ended'; readonly code: number | null }

/** The user and group of a process. */
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
  // Its children write to the same pipe, which closes when the last of them has ended.
  child.once('close', (code) => {
    running = undefined
    report({ kind: 'ended', code })
  })
}

/** Sends a report. The other side may have just ended, before `disconnect` is emitted; then the report is dropped. */
function report(message: Report): void {
  process.send?.(message, undefined, undefined, () => undefined)
}

function removeFolder(): void {
  freeSharedMemory()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes the shared memory that a killed server leaves until it starts again. The seventh line of its lock file has the id. */
function freeSharedMemory(): void {
  try {
    const lines = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
    const id = lines[6]?.trim().split(/\s+/)[1]
    if (id !== undefined) spawnSync('ipcrm', ['-m', id])
  } catch {
    // The server was shut down properly and has no lock file.
  }
}
