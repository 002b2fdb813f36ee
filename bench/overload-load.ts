import { setTimeout as delay } from 'node:timers/promises'
import { openBodies } from './bodies.ts'
import { openConnection, type Connection, type Listener } from './connection.ts'
import type { OverloadMessage, OverloadOrder, OverloadRequest, OverloadResult } from './overload-order.ts'
import { openTokenCounter } from './overload-tally.ts'
import { headOf } from './request-head.ts'
import { quantile } from './statistics.ts'

/** The process that generates more load than a server can serve. It receives orders over IPC and returns the results. */

/** Connections that are opened at the same time. If there are more than a server accepts at once, the others wait for the next SYN. */
const OPENED_TOGETHER = 100
/** A request without an answer this long after the end counts as unanswered. */
const PATIENCE_MS = 10_000
const TICK_MS = 1

/** A connection and its current request. */
interface Line {
  readonly connection: Connection
  /** undefined: the connection is idle. */
  asked: { readonly request: OverloadRequest; readonly sinceMs: number } | undefined
}

/** Generates the load. Rejects if connections cannot be opened. Other faults are counted. */
export async function runOverload(order: OverloadOrder): Promise<OverloadResult> {
  const tally = openTokenCounter(order.requests)
  const render = openRendering(order)
  const late: number[] = []
  const idle: Line[] = []
  const due: number[] = []
  const settled = Promise.withResolvers<void>()
  let underWay = 0
  let asked = 0
  let isOver = false
  let askAgain: NodeJS.Immediate | undefined

  async function open(localAddress: string | undefined): Promise<Line> {
    const listener: Listener = {
      onAnswer(status, body, head) {
        const { asked: was } = line
        if (was === undefined) return
        line.asked = undefined
        underWay -= 1
        tally.answered(was.request, { status, head, body }, performance.now() - was.sinceMs)
        next(line)
      },
      onFailure(reason) {
        if (line.asked === undefined) idle.splice(idle.indexOf(line), 1)
        else underWay -= 1
        tally.wrong(reason)
        settleIfDone()
      },
    }
    const connection = await openConnection(order.port, listener, localAddress)
    const line: Line = { connection, asked: undefined }
    return line
  }

  function next(line: Line): void {
    idle.push(line)
    if (order.rate === undefined) askAgain ??= setImmediate(sendAll)
    else sendDue()
    settleIfDone()
  }

  /** Sends after the current turn of the event loop. Sending within it would keep the loop from its timers for seconds. */
  function sendAll(): void {
    askAgain = undefined
    if (isOver) return
    while (idle.length > 0) send(idle.shift(), performance.now())
  }

  /** Adds the requests that are due, even if no connection is free. */
  function sendDue(): void {
    while (idle.length > 0 && due.length > 0) send(idle.shift(), due.shift() ?? 0)
  }

  function send(line: Line | undefined, sinceMs: number): void {
    if (line === undefined) return
    const { request, text } = render(asked)
    asked += 1
    underWay += 1
    if (order.rate !== undefined) late.push(performance.now() - sinceMs)
    line.asked = { request, sinceMs }
    line.connection.send(text)
  }

  function settleIfDone(): void {
    if (isOver && underWay === 0) settled.resolve()
  }

  async function offer(rate: number, startMs: number, endMs: number): Promise<void> {
    for (let nextMs = startMs; nextMs < endMs; await delay(TICK_MS)) {
      for (const now = performance.now(); nextMs <= Math.min(now, endMs); nextMs += gapMs(rate)) due.push(nextMs)
      sendDue()
    }
  }

  const lines: Line[] = []
  while (lines.length < order.connections) {
    const count = Math.min(OPENED_TOGETHER, order.connections - lines.length)
    const first = lines.length
    const addressOf = (index: number) => order.addresses[(first + index) % order.addresses.length]
    lines.push(...(await Promise.all(Array.from({ length: count }, (_, index) => open(addressOf(index))))))
  }
  const probe = await openProbe(order, render)
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + order.seconds * 1000
  for (const line of lines) next(line)
  await (order.rate === undefined ? delay(order.seconds * 1000) : offer(order.rate, startMs, endMs))
  isOver = true
  tally.end()
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  settleIfDone()
  const recoveredMs = await probe.recover(PATIENCE_MS)
  await Promise.race([settled.promise, delay(PATIENCE_MS, undefined, { ref: false })])
  for (let count = underWay + due.length; count > 0; count -= 1) tally.wrong('A request was not answered.')
  if (recoveredMs === undefined) tally.wrong('Nothing was served after the load.')
  for (const { connection } of lines) connection.close()
  return {
    ...tally.read(seconds),
    seconds,
    asked,
    lateP99Ms: late.length === 0 ? 0 : quantile(late, 0.99),
    recoveredMs: recoveredMs ?? Number.NaN,
    generatorCpuMs: (user + system) / 1000,
  }
}

/** Independent arrivals, whose intervals are distributed exponentially. */
function gapMs(rate: number): number {
  return (-Math.log(1 - Math.random()) * 1000) / rate
}

type Render = (number: number) => { readonly request: OverloadRequest; readonly text: string }

/** Returns the requests of all kinds in turn. */
function openRendering({ requests, port }: OverloadOrder): Render {
  const kinds = requests.map((request) => {
    const head = headOf({ ...request, port })
    const bodies = openBodies(request.bodies, false)
    return {
      request,
      render(): string {
        const body = bodies.next(0) ?? ''
        return request.method === 'GET' ? head : `${head}${body.length}\r\n\r\n${body}`
      },
    }
  })
  return (number) => {
    const kind = kinds[number % kinds.length]
    if (kind === undefined) throw new Error('The order has no requests.')
    return { request: kind.request, text: kind.render() }
  }
}

/** Sends requests on a separate connection until the server serves them again. Returns undefined if that does not happen in time. */
async function openProbe({ port }: OverloadOrder, render: Render) {
  const { request, text } = render(0)
  let answered = Promise.withResolvers<number>()
  const connection = await openConnection(port, {
    onAnswer: (status) => answered.resolve(status),
    onFailure: () => answered.resolve(0),
  })
  return {
    async recover(patienceMs: number): Promise<number | undefined> {
      const startMs = performance.now()
      try {
        while (performance.now() < startMs + patienceMs) {
          answered = Promise.withResolvers()
          connection.send(text)
          const status = await answered.promise
          if (status === request.status) return performance.now() - startMs
          if (status === 0) return undefined
          await delay(TICK_MS)
        }
        return undefined
      } finally {
        connection.close()
      }
    },
  }
}

function say(message: OverloadMessage): void {
  process.send?.(message)
}

if (process.send !== undefined) {
  process.on('disconnect', () => process.exit())
  process.on('message', (order: OverloadOrder) => {
    runOverload(order).then(
      (result) => say({ kind: 'done', result }),
      (cause: unknown) => say({ kind: 'failed', reason: String(cause) }),
    )
  })
  say({ kind: 'ready' })
}
