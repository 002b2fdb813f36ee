import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.ts'

/** The process of a hostile network. It receives orders over IPC and returns the results. */

export interface HostileOrder {
  readonly port: number
  readonly connections: number
  /** The source addresses of the connections, used in turn. */
  readonly addresses: readonly string[]
  readonly seconds: number
  /**
   * `ask`: each connection sends the next request after an answer. `pipeline`: each connection writes as fast as it can and never
   * reads. In both cases a closed connection is opened again.
   */
  readonly manner: 'ask' | 'pipeline'
  /** The text of a complete request. */
  readonly request: string
}

export interface HostileResult {
  readonly answersPerSecond: number
  /** Connections that the server closed or refused. */
  readonly closed: number
  readonly statuses: Readonly<Record<string, number>>
}

export type HostileMessage =
  | { readonly kind: 'ready' }
  /** Every connection was open once and has sent a request. */
  | { readonly kind: 'open' }
  | { readonly kind: 'done'; readonly result: HostileResult }

/** Starts a load. Resolves when all its connections have sent a request. */
export type Attack = (order: HostileOrder) => Promise<{ readonly end: () => Promise<HostileResult> }>

/** Connections that are opened at the same time, so that none has to wait for its next SYN. */
const OPENED_TOGETHER = 100
/** The shortest time in which any client connects again after its connection was closed. */
const REOPEN_MS = 5
const PIPELINED = 700
/** The time limit for opening connections. */
const PATIENCE_MS = 15_000

/** Generates the load. Its duration begins when all connections are open. Then all connections are closed. */
export async function runHostile(order: HostileOrder, onOpen: () => void): Promise<HostileResult> {
  const statuses: Record<string, number> = {}
  const ends = new Set<() => void>()
  let answers = 0
  let closed = 0
  let opened = 0
  let isOver = false
  const allOpen = Promise.withResolvers<void>()

  function begin(send: () => void): void {
    opened += 1
    if (opened === order.connections) allOpen.resolve()
    send()
  }

  async function ask(address: string | undefined): Promise<void> {
    const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
    const connection = await openConnection(
      order.port,
      {
        onAnswer(status) {
          answers += 1
          statuses[status] = (statuses[status] ?? 0) + 1
          if (!isOver) connection.send(order.request)
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
    begin(() => connection.send(order.request))
    await failed
    ends.delete(end)
  }

  async function pipeline(address: string | undefined): Promise<void> {
    const socket = connect({ port: order.port, host: '127.0.0.1', localAddress: address }).pause()
    const end = (): void => void socket.destroy()
    const text = order.request.repeat(PIPELINED)
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
    const address = order.addresses[index % order.addresses.length]
    for (;;) {
      await (order.manner === 'ask' ? ask(address) : pipeline(address)).catch(() => undefined)
      if (isOver) return
      closed += 1
      await delay(REOPEN_MS)
      if (isOver) return
    }
  }

  const all: Promise<void>[] = []
  for (let index = 0; index < order.connections; index += 1) {
    all.push(keepOpen(index))
    if (index % OPENED_TOGETHER === 0) await delay(REOPEN_MS)
  }
  await Promise.race([allOpen.promise, delay(PATIENCE_MS)])
  answers = 0
  onOpen()
  await delay(order.seconds * 1000)
  isOver = true
  for (const end of ends) end()
  await Promise.all(all)
  return { answersPerSecond: answers / order.seconds, closed, statuses }
}

if (process.send !== undefined) {
  const say = (message: HostileMessage): void => void process.send?.(message)
  process.on('disconnect', () => process.exit())
  process.on('message', (order: HostileOrder) => {
    void runHostile(order, () => say({ kind: 'open' })).then((result) => say({ kind: 'done', result }))
  })
  say({ kind: 'ready' })
}
