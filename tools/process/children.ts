import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { parseCores } from './usage.ts'

/** The processor cores of servers and generator. undefined: this machine cannot pin processes, or has only one core. */
export interface Cores {
  readonly servers: number
  readonly generator: number
}

export interface ChildOptions {
  readonly script: URL
  /** The runtime of the process. undefined: this Node.js. */
  readonly runtime?: string | undefined
  readonly args?: readonly string[]
  readonly nodeArgs?: readonly string[]
  /** undefined: any core. */
  readonly core?: number | undefined
  readonly env?: Readonly<Record<string, string>>
  /** The file for its output. undefined: it communicates over IPC, and its errors are shown. */
  readonly logPath?: string
}

export type Child = ChildProcess & { readonly pid: number }

const STOP_LIMIT_MS = 5000
/** A program of util-linux. It pins itself to a core and executes the given program, so the process id stays. */
const PINNER = 'taskset'
/** What Linux shows as the name of V8's sampling thread. */
const SAMPLER = 'v8:ProfEvntProc\n'
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a child process, which ends with this process at the latest. */
export function startChild(options: ChildOptions): Child {
  const child = spawnPinned(options)
  const { pid } = child
  if (pid === undefined) throw new Error(`${options.script.pathname} could not be started.`)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return Object.assign(child, { pid })
}

/** Sends SIGTERM to all children and waits. Kills those that take too long. */
export async function stopChildren(): Promise<void> {
  await Promise.all([...running].map((child) => stopChild(child, STOP_LIMIT_MS)))
}

/** Sends SIGTERM, and SIGKILL after the time limit. Returns the exit code, or null after a signal ended the process. */
export async function stopChild(child: ChildProcess, limitMs: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const [code] = (await exited) as [number | null]
  clearTimeout(timer)
  return code
}

/** The servers get the last allowed core and the generator the first one, because interrupts tend to use the first core. */
export function chooseCores(): Cores | undefined {
  if (spawnSync(PINNER, ['--version']).status !== 0) return undefined
  const cores = allowedCores('self')
  const [generator, servers] = [cores.at(0), cores.at(-1)]
  return generator === undefined || servers === undefined || generator === servers ? undefined : { servers, generator }
}

/** Moves a running process to a core. Processes that it starts later run there too. */
export function pin(pid: number, core: number): void {
  spawnSync(PINNER, ['--cpu-list', '--pid', String(core), String(pid)])
}

/**
 * Moves V8's sampling thread of a profiled process from the core of the process to the others. On one core it takes up to a fifth of
 * the time, and wakes up while the process waits for the disk, so that the wait counts as time of the commit.
 */
export function moveSampler(pid: number, core: number): void {
  const others = allowedCores('self').filter((other) => other !== core)
  for (const thread of readdirSync(`/proc/${pid}/task`))
    if (readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8') === SAMPLER)
      spawnSync(PINNER, ['--cpu-list', '--pid', others.join(','), thread])
}

/** The cores on which a process or a thread may run. */
export function allowedCores(process: 'self' | `${number}`): readonly number[] {
  const status = readFileSync(`/proc/${process}/status`, 'utf8')
  return parseCores(/^Cpus_allowed_list:\s*(.+)$/m.exec(status)?.[1] ?? '')
}

function spawnPinned({ script, runtime, args = [], nodeArgs = [], core, env, logPath }: ChildOptions): ChildProcess {
  const command = [runtime ?? process.execPath, ...nodeArgs, script.pathname, ...args]
  const [program = '', ...rest] = core === undefined ? command : [PINNER, '-c', String(core), ...command]
  const { PATH = '', NODE_COMPILE_CACHE: cache } = process.env
  const options = { env: { PATH, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }), ...env } }
  if (logPath === undefined)
    return spawn(program, rest, {
      ...options,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
  const log = openSync(logPath, 'a', 0o600)
  try {
    return spawn(program, rest, { ...options, stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}
