import { setTimeout as delay } from 'node:timers/promises'
import type { ServerProcess } from '../../tools/process/server.ts'
import { quantile } from '../../tools/statistics.ts'
import { serveCalls, startWorker } from '../../tools/process/worker.ts'
import { openBodies } from '../load/bodies.ts'
import { headOf, openConnection, type Connection, type Listener } from '../load/connection.ts'
import { openCounts } from './counts.ts'
import type { OverloadPlan, OverloadRequest, OverloadResult } from './plan.ts'

/** Runs a load in a worker process, which generates more load than a server can serve. */
export type RunLoad = (plan: OverloadPlan) => Promise<OverloadResult>

/** Rounds of a load of token requests beside something else. */
export interface LoadSetup {
  readonly server: ServerProcess
  readonly seconds: number
  readonly rounds: number
  /** Token requests per second. */
  readonly rate: number
  readonly request: OverloadRequest
  readonly load: RunLoad
}

/** Starts the worker on a core. undefined: any core. */
export async function startLoad(core: number | undefined): Promise<RunLoad> {
  const worker = await startWorker<typeof functions>(new URL(import.meta.url), core)
  return (plan) => worker.call('runOverload', plan)
}

/** Connections that are opened at the same time. If there are more than a server accepts at once, the others wait for the next SYN. */
const OPENED_TOGETHER = 100
/** A request without an answer this long after the end counts as unanswered. */
const ANSWER_LIMIT_MS = 10_000
const TICK_MS = 1

/** A connection and its current request. */
interface Line {
  readonly connection: Connection
  /** undefined: the connection is idle. */
  current: { readonly request: OverloadRequest; readonly sinceMs: number } | undefined
}

/** Generates the load. Rejects if connections cannot be opened. Other faults are counted. */
export async function runOverload(plan: OverloadPlan): Promise<OverloadResult> {
  const counts = openCounts(plan.requests)
  const render = openRendering(plan)
  const late: number[] = []
  const idle: Line[] = []
  const due: number[] = []
  const settled = Promise.withResolvers<void>()
  let underWay = 0
  let sent = 0
  let isOver = false
  let sending: NodeJS.Immediate | undefined

  async function open(localAddress: string | undefined): Promise<Line> {
    const listener: Listener = {
      onAnswer(status, body, head) {
        const { current } = line
        if (current === undefined) return
        line.current = undefined
        underWay -= 1
        counts.addAnswer(current.request, { status, head, body }, performance.now() - current.sinceMs)
        next(line)
      },
      onFailure(reason) {
        if (line.current === undefined) idle.splice(idle.indexOf(line), 1)
        else underWay -= 1
        counts.addWrong(reason)
        settleIfDone()
      },
    }
    const connection = await openConnection(plan.port, listener, localAddress)
    const line: Line = { connection, current: undefined }
    return line
  }

  function next(line: Line): void {
    idle.push(line)
    if (plan.rate === undefined) sending ??= setImmediate(sendAll)
    else sendDue()
    settleIfDone()
  }

  /** Sends after the current turn of the event loop. Sending within it would keep the loop from its timers for seconds. */
  function sendAll(): void {
    sending = undefined
    if (isOver) return
    while (idle.length > 0) send(idle.shift(), performance.now())
  }

  /** Adds the requests that are due, even if no connection is free. */
  function sendDue(): void {
    while (idle.length > 0 && due.length > 0) send(idle.shift(), due.shift() ?? 0)
  }

  function send(line: Line | undefined, sinceMs: number): void {
    if (line === undefined) return
    const { request, text } = render(sent)
    sent += 1
    underWay += 1
    if (plan.rate !== undefined) late.push(performance.now() - sinceMs)
    line.current = { request, sinceMs }
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
  while (lines.length < plan.connections) {
    const count = Math.min(OPENED_TOGETHER, plan.connections - lines.length)
    const first = lines.length
    const addressOf = (index: number) => plan.addresses[(first + index) % plan.addresses.length]
    lines.push(...(await Promise.all(Array.from({ length: count }, (_, index) => open(addressOf(index))))))
  }
  const probe = await openProbe(plan, render)
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + plan.seconds * 1000
  for (const line of lines) next(line)
  await (plan.rate === undefined ? delay(plan.seconds * 1000) : offer(plan.rate, startMs, endMs))
  isOver = true
  counts.end()
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  settleIfDone()
  const recoveredMs = await probe.recover(ANSWER_LIMIT_MS)
  await Promise.race([settled.promise, delay(ANSWER_LIMIT_MS, undefined, { ref: false })])
  for (let count = underWay + due.length; count > 0; count -= 1) counts.addWrong('A request was not answered.')
  if (recoveredMs === undefined) counts.addWrong('Nothing was served after the load.')
  for (const { connection } of lines) connection.close()
  return {
    ...counts.read(seconds),
    seconds,
    sent,
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
function openRendering({ requests, port }: OverloadPlan): Render {
  const kinds = requests.map((request) => {
    const head = headOf(request, port)
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
    if (kind === undefined) throw new Error('The plan has no requests.')
    return { request: kind.request, text: kind.render() }
  }
}

/** Sends requests on a separate connection until the server serves them again. Returns undefined if that does not happen in time. */
async function openProbe({ port }: OverloadPlan, render: Render) {
  const { request, text } = render(0)
  let answered = Promise.withResolvers<number>()
  const connection = await openConnection(port, {
    onAnswer: (status) => answered.resolve(status),
    onFailure: () => answered.resolve(0),
  })
  return {
    async recover(limitMs: number): Promise<number | undefined> {
      const startMs = performance.now()
      try {
        while (performance.now() < startMs + limitMs) {
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

const functions = { runOverload }
if (import.meta.main) serveCalls(functions)
