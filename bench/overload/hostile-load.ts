import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { serveCalls, startWorker } from '../../tools/process/worker.ts'
import { openConnection } from '../load/connection.ts'

/** The load of a hostile network, in a worker process. */

export interface HostilePlan {
  readonly port: number
  readonly connections: number
  /** The source addresses of the connections, used in turn. */
  readonly addresses: readonly string[]
  readonly seconds: number
  /**
   * `request`: each connection sends the next request after an answer. `pipeline`: each connection writes as fast as it can and never
   * reads. In both cases a closed connection is opened again.
   */
  readonly manner: 'request' | 'pipeline'
  /** The text of a complete request. */
  readonly text: string
}

export interface HostileResult {
  readonly answersPerSecond: number
  /** Connections that the server closed or refused. */
  readonly closed: number
  readonly statuses: Readonly<Record<string, number>>
}

/** Starts a load. Resolves when all its connections have sent a request. */
export type Attack = (plan: HostilePlan) => Promise<{ readonly end: () => Promise<HostileResult> }>

/** Starts the worker on a core. undefined: any core. */
export async function startAttacker(core: number | undefined): Promise<Attack> {
  const worker = await startWorker<typeof functions>(new URL(import.meta.url), core)
  return async (plan) => {
    await worker.call('open', plan)
    return { end: () => worker.call('end') }
  }
}

/** Connections that are opened at the same time, so that none has to wait for its next SYN. */
const OPENED_TOGETHER = 100
/** The shortest time in which any client connects again after its connection was closed. */
const REOPEN_MS = 5
const PIPELINED = 700
/** The time limit for opening connections. */
const OPEN_LIMIT_MS = 15_000

/** Generates the load. Its duration begins when all connections are open. Then all connections are closed. */
async function runHostile(plan: HostilePlan, onOpen: () => void): Promise<HostileResult> {
  const statuses: Record<string, number> = {}
  const ends = new Set<() => void>()
  let answers = 0
  let closed = 0
  let opened = 0
  let isOver = false
  const allOpen = Promise.withResolvers<void>()

  function begin(send: () => void): void {
    opened += 1
    if (opened === plan.connections) allOpen.resolve()
    send()
  }

  async function request(address: string | undefined): Promise<void> {
    const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
    const connection = await openConnection(
      plan.port,
      {
        onAnswer(status) {
          answers += 1
          statuses[status] = (statuses[status] ?? 0) + 1
          if (!isOver) connection.send(plan.text)
        },
        onFailure: () => fail(),
      },
      address,
    )
    const end = (): void => {
      connection.close()
      fail()
    }
    ends.add(end)
    begin(() => connection.send(plan.text))
    await failed
    ends.delete(end)
  }

  async function pipeline(address: string | undefined): Promise<void> {
    const socket = connect({ port: plan.port, host: '127.0.0.1', localAddress: address }).pause()
    const end = (): void => void socket.destroy()
    const text = plan.text.repeat(PIPELINED)
    const write = (): void => void socket.write(text, (cause) => (cause instanceof Error ? end() : write()))
    ends.add(end)
    await new Promise<void>((resolve) => {
      socket
        .on('connect', () => begin(write))
        .on('error', end)
        .on('close', () => resolve())
    })
    ends.delete(end)
  }

  async function keepOpen(index: number): Promise<void> {
    const address = plan.addresses[index % plan.addresses.length]
    for (;;) {
      await (plan.manner === 'request' ? request(address) : pipeline(address)).catch(() => undefined)
      if (isOver) return
      closed += 1
      await delay(REOPEN_MS)
      if (isOver) return
    }
  }

  const all: Promise<void>[] = []
  for (let index = 0; index < plan.connections; index += 1) {
    all.push(keepOpen(index))
    if (index % OPENED_TOGETHER === 0) await delay(REOPEN_MS)
  }
  await Promise.race([allOpen.promise, delay(OPEN_LIMIT_MS)])
  answers = 0
  onOpen()
  await delay(plan.seconds * 1000)
  isOver = true
  for (const end of ends) end()
  await Promise.all(all)
  return { answersPerSecond: answers / plan.seconds, closed, statuses }
}

let running: Promise<HostileResult> | undefined
const functions = {
  open: (plan: HostilePlan) =>
    new Promise<void>((resolve, reject) => {
      running = runHostile(plan, resolve)
      running.catch(reject)
    }),
  async end(): Promise<HostileResult> {
    if (running === undefined) throw new Error('No load runs.')
    return running
  },
}
if (import.meta.main) serveCalls(functions)
