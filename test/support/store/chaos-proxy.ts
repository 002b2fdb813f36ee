import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

/** A proxy between a node and its PostgreSQL that causes network faults. */
export interface ChaosProxy {
  /** The database's address through this proxy. */
  readonly url: string
  /** The number of open connections. */
  readonly size: () => number
  /** Breaks every connection. */
  readonly cut: () => void
  /** Breaks every connection and refuses new ones. */
  readonly refuse: () => Promise<void>
  /** Accepts new connections again after `refuse`. */
  readonly accept: () => Promise<void>
  /** Holds back data of one direction on open and new connections. `questions` go to the database, `answers` come from it. */
  readonly stall: (what: 'everything' | Direction) => void
  /** Ends `stall` and delivers the data that was held back. */
  readonly resume: () => void
  /** Delays every answer by the given time. */
  readonly slowDown: (milliseconds: number) => void
  /** Sends new connections to another address. */
  readonly repoint: (url: string) => void
  /**
   * Cuts the connection at the next `commit`, or at the next change that is a transaction of its own: before it reaches
   * PostgreSQL, or after PostgreSQL has committed it and before the node receives the answer. Resolves when the connection is cut.
   */
  readonly cutAtCommit: (when: 'before' | 'after') => Promise<void>
}

type Direction = 'questions' | 'answers'

/** Statements that are whole transactions where no other began: a message names them between zeros. */
const CHANGES = ['insert-clients-with-audit', 'redeem-codes', 'rotate-families', 'issue-tokens'].map((name) =>
  Buffer.from(`\0${name}\0`, 'latin1'),
)

interface Gate {
  readonly passed: Promise<void>
  readonly open: () => void
}

export async function openChaosProxy(test: Pick<TestContext, 'after'>, url: string): Promise<ChaosProxy> {
  const links = new Set<{ readonly cut: () => void }>()
  const gates: Record<Direction, Gate> = { questions: openGate(), answers: openGate() }
  let target = new URL(url)
  let delayMs = 0
  let atCommit: { readonly when: 'before' | 'after'; readonly done: () => void } | undefined

  function join(node: Socket): void {
    const database = connect({ host: target.hostname, port: Number(target.port) })
    const link = {
      cut(): void {
        node.resetAndDestroy()
        database.destroy()
        links.delete(link)
      },
    }
    links.add(link)
    for (const socket of [node, database]) socket.setNoDelay(true).on('error', () => undefined)
    let isDoomed = false
    const commits = openCommitWatch()
    pump(node, database, 'questions', (chunk) => {
      if (!commits(chunk) || atCommit === undefined) return true
      const { when, done } = atCommit
      atCommit = undefined
      const end = (): void => {
        link.cut()
        done()
      }
      if (when === 'before') {
        end()
        return false
      }
      isDoomed = true
      // The first answer confirms the commit.
      database.once('data', end)
      return true
    })
    pump(database, node, 'answers', () => !isDoomed)
    node.once('close', () => links.delete(link))
  }

  function pump(from: Socket, to: Socket, direction: Direction, mayPass: (chunk: Buffer) => boolean): void {
    let last = Promise.resolve()
    const inTurn = (act: () => void, dueAt: number): void => {
      last = last.then(async () => {
        const remaining = dueAt - performance.now()
        if (remaining > 0) await delay(remaining, undefined, { ref: false })
        await gates[direction].passed
        act()
      })
    }
    const dueAt = (): number => performance.now() + (direction === 'answers' ? delayMs : 0)
    from.on('data', (chunk: Buffer) => {
      if (mayPass(chunk)) inTurn(() => to.write(chunk), dueAt())
    })
    from.on('close', () => inTurn(() => to.destroy(), dueAt()))
  }

  function cut(): void {
    for (const link of links) link.cut()
  }

  const { server, port } = await listen(0)
  let listening: Server | undefined = server.on('connection', join)
  const refuse = async (): Promise<void> => {
    const closing = listening
    listening = undefined
    const closed = closing === undefined ? undefined : once(closing, 'close')
    closing?.close()
    cut()
    await closed
  }
  const resume = (): void => {
    for (const gate of Object.values(gates)) gate.open()
  }
  test.after(async () => {
    resume()
    await refuse()
  })

  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    size: () => links.size,
    cut,
    refuse,
    resume,
    async accept() {
      listening = (await listen(port)).server.on('connection', join)
    },
    stall(what) {
      for (const direction of ['questions', 'answers'] as const)
        if (what === 'everything' || what === direction) gates[direction] = closedGate()
    },
    slowDown: (milliseconds) => void (delayMs = milliseconds),
    repoint: (other) => void (target = new URL(other)),
    cutAtCommit: (when) => new Promise((resolve) => (atCommit = { when, done: resolve })),
  }
}

/** Returns a function that reports whether a piece of the node's data contains a commit. */
function openCommitWatch(): (chunk: Buffer) => boolean {
  let isBegun = false
  return (chunk) => {
    const isOver = chunk.includes(simpleQuery('commit'))
    const isWhole = !isBegun && !chunk.includes(simpleQuery('begin')) && CHANGES.some((name) => chunk.includes(name))
    if (chunk.includes(simpleQuery('begin'))) isBegun = true
    if (isOver || chunk.includes(simpleQuery('rollback'))) isBegun = false
    return isOver || isWhole
  }
}

/** A simple query message: kind, length, text. */
function simpleQuery(text: string): Buffer {
  return Buffer.from(`Q\0\0\0${String.fromCodePoint(text.length + 5)}${text}\0`, 'latin1')
}

async function listen(port: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

function openGate(): Gate {
  return { passed: Promise.resolve(), open: () => undefined }
}

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}
