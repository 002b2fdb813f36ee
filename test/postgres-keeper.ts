import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Order, OsUser, Report } from './postgres-server.ts'

/** This side of postgres-server.ts: one program at a time, in a folder that goes when the keeper is closed. */
export interface Keeper {
  /** Waits for the end of a program, or until it has logged a text. @throws Error with its log if it fails */
  readonly run: (program: Program) => Promise<void>
  /** Waits until the program and all its children are gone. Nothing happens if none runs. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>
  readonly close: () => Promise<void>
  readonly log: () => string
}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly user: OsUser | undefined
  /** The text that says that it is up; none for a program that is waited for. */
  readonly readyText?: string
}

/** Neither the keeper's process nor what runs in it holds up the end of this process, and none of them outlives it. */
export function openKeeper(folder: string): Keeper {
  // In a session of its own, an interrupt at the terminal does not reach it before it can tidy up.
  const child = fork(join(import.meta.dirname, 'postgres-server.ts'), [folder], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let isRunning = false
  let waiting = 0
  let log = ''
  child.on('message', (report: Report) => {
    if (report.kind === 'log') log += report.text
    else isRunning = false
  })
  child.unref()
  child.channel?.unref()

  const send = (order: Order): void => void child.send(order)
  const waitUntil = async <T>(decide: (report: Report) => T | undefined): Promise<T> => {
    waiting += 1
    child.ref()
    child.channel?.ref()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const hear = (report: Report): void => {
      const decision = decide(report)
      if (decision !== undefined) resolve(decision)
    }
    const fail = (): void => reject(new Error(`The keeper of ${folder} has ended.`))
    child.on('message', hear).once('exit', fail)
    try {
      if (!child.connected) fail()
      return await promise
    } finally {
      child.off('message', hear).off('exit', fail)
      waiting -= 1
      if (waiting === 0) {
        child.unref()
        child.channel?.unref()
      }
    }
  }
  const hasEnded = (report: Report): true | undefined => (report.kind === 'ended' ? true : undefined)

  return {
    async run({ command, args, user, readyText }) {
      if (isRunning) throw new Error('It runs already.')
      isRunning = true
      const from = log.length
      send({ kind: 'run', command, args, ...(user !== undefined && { user }) })
      const isFine = await waitUntil((report) => {
        if (report.kind === 'ended') return readyText === undefined && report.code === 0
        return readyText !== undefined && log.includes(readyText, from) ? true : undefined
      })
      if (!isFine) throw new Error(`${command} failed:\n${log.slice(from)}`)
    },
    async signal(signal) {
      if (!isRunning) return
      const ended = waitUntil(hasEnded)
      send({ kind: 'signal', signal })
      await ended
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.ref()
      const exited = once(child, 'exit')
      if (child.connected) child.disconnect()
      const [code] = (await exited) as [number | null]
      if (code !== 0) throw new Error(`The keeper of ${folder} has failed.`)
    },
    log: () => log,
  }
}
