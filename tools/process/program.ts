import { spawn } from 'node:child_process'
import { stopChild } from './children.ts'

/** A program that serves HTTP. */
export interface RunningProgram {
  readonly pid: number
  readonly output: () => string
  /** Sends SIGTERM, and SIGKILL after 5 s. Returns the exit code, or null after SIGKILL. */
  readonly stop: () => Promise<number | null>
}

export interface ProgramStart {
  readonly command: readonly string[]
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** Where the program answers when it has started. */
  readonly address: string
}

/** The time limit for the start of a program. Spring on a busy machine is the slowest. */
const START_LIMIT_MS = 120_000
const STOP_LIMIT_MS = 5000

/** Starts a program. Resolves when the program responds at its address. @throws Error with its output */
export async function startProgram({ command, folder, environment, address }: ProgramStart): Promise<RunningProgram> {
  const [program = '', ...rest] = command
  const child = spawn(program, rest, { cwd: folder, env: { ...process.env, ...environment }, stdio: 'pipe' })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part.toString()))
  const running = { pid: child.pid ?? 0, output: () => parts.join(''), stop: () => stopChild(child, STOP_LIMIT_MS) }
  const until = performance.now() + START_LIMIT_MS
  while (performance.now() < until && child.exitCode === null) {
    const answer = await fetch(address, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    if (answer !== undefined) return running
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
  await running.stop()
  throw new Error(`${command.join(' ')} does not answer. It printed:\n${running.output().slice(-2000)}`)
}
