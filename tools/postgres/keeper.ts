import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Order, OsUser, Report } from './server.ts'

/** The test's side of server.ts: runs one program at a time, in a folder that is removed when the keeper is closed. */
export interface Keeper {
  /** Runs a program, and waits until it ends or has logged a text. @throws Error with its log if it fails */
  readonly run: (program: Program) => Promise<void>
  /** Waits until the program and all its children have ended. Does nothing if no program runs. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>
  readonly close: () => Promise<void>
  readonly log: () => string
}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly user: OsUser | undefined
  /** The log text that shows that the program is ready. undefined: wait until the program ends. */
  readonly readyText?: string
}

/** Starts the keeper's process. It and its programs do not delay the end of this process, and do not outlive it. */
export function openKeeper(folder: string): Keeper {
  // In a session of its own, it does not get an interrupt of the terminal, which would end it before it has cleaned up.
  const child = fork(join(import.meta.dirname, 'server.ts'), [folder], {
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
