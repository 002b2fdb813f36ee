import { once } from 'node:events'
import { statSync, truncateSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { beginBench, giveUp, readOptionsOrExit } from './begin.ts'
import { readTreeUsage } from './process-tree.ts'
import { describeMachine, saveResult, today } from './result.ts'
import { openSoakKeys } from './soak-keys.ts'
import { readSoakOptions, USAGE } from './soak-options.ts'
import type { SoakMessage, SoakRequest } from './soak-order.ts'
import { renderSoak, sampleOf, type SoakResult, type SoakSample } from './soak-report.ts'
import { LIFETIMES, openSoakStage, SESSION_SECONDS, type SoakStage } from './soak-stage.ts'

/**
 * `npm run bench:soak` sends all kinds of requests to the real server for half an hour. Lifetimes are so short that rows expire and
 * are swept all the time. Meanwhile the signing key changes and the log is moved into the file. See docs/performance.md.
 */

/** The interval at which the size of the log is read. */
const LOOK_MS = 100
/** The file with the server's log is truncated when it is larger. */
const SERVER_LOG_LIMIT_BYTES = 256 * 1024 * 1024
/** Time for the start, the filling and the end. */
const SPARE_MS = 15 * 60_000

const options = readOptionsOrExit(readSoakOptions, USAGE)
const { folder, children } = beginBench(options.minutes * 60_000 + SPARE_MS)

const stage = await openSoakStage(children, folder, options)
try {
  const result = await soak(stage)
  console.log(renderSoak(result))
  if (options.save !== undefined) saveResult(result, options.save)
  process.exitCode = result.failed === 0 ? 0 : 1
  await stage.close()
} catch (cause) {
  giveUp(`${String(cause)}\n${stage.subject.readLog()}`)
}

async function soak({ subject, store }: SoakStage): Promise<SoakResult> {
  const rowsBefore = await store.countRows(LIFETIMES)
  const load = await openLoad(subject.port)
  const keys = openSoakKeys(subject.settings)
  const startMs = performance.now()
  const count = Math.max(1, Math.round((options.minutes * 60) / options.sampleSeconds))
  const samples: SoakSample[] = []
  const rotationsAt: number[] = []
  let logBytes = 0
  const look = setInterval(() => {
    void store.readBytes().then(({ log }) => (logBytes = Math.max(logBytes, log)))
  }, LOOK_MS)
  let failed = 0
  let failures: readonly string[] = []
  let atMs = startMs
  let cpuMs = readTreeUsage(subject.pid)?.cpuMs ?? Number.NaN

  for (let number = 1; number <= count; number += 1) {
    const rotating = isTimeToRotate(number, count) ? keys.rotate() : Promise.resolve()
    await Promise.all([rotating, delay(startMs + number * options.sampleSeconds * 1000 - performance.now())])
    const { interval } = await load.ask({ kind: 'read' }, 'interval')
    const usage = readTreeUsage(subject.pid)
    const bytes = await store.readBytes()
    const now = performance.now()
    samples.push(
      sampleOf(interval, {
        at: (now - startMs) / 1000,
        seconds: (now - atMs) / 1000,
        cpuMs: (usage?.cpuMs ?? Number.NaN) - cpuMs,
        residentMegabytes: usage && usage.residentBytes / 1e6,
        logMegabytes: Math.max(logBytes, bytes.log) / 1e6,
        databaseMegabytes: bytes.database / 1e6,
      }),
    )
    if (isTimeToRotate(number, count)) rotationsAt.push((now - startMs) / 1000)
    atMs = now
    cpuMs = usage?.cpuMs ?? Number.NaN
    logBytes = 0
    ;({ failed, failures } = interval)
    if (statSync(subject.logPath).size > SERVER_LOG_LIMIT_BYTES) truncateSync(subject.logPath)
    if (number % 6 === 0) console.error(progressOf(samples))
  }
  clearInterval(look)
  await load.ask({ kind: 'stop' }, 'stopped')
  await delay(options.settleSeconds * 1000)
  return {
    kind: 'soak',
    date: today(),
    machine: describeMachine(),
    options,
    samples,
    rotationsAt,
    rowsBefore,
    rowsAfter: await store.countRows(LIFETIMES),
    failed,
    failures,
  }
}

/** The times of the rotations, spread over the whole load except for the first and the last sample. */
function isTimeToRotate(number: number, count: number): boolean {
  const part = (at: number): number => Math.floor((at * (options.rotations + 1)) / count)
  return number < count && part(number) > part(number - 1)
}

/** Starts the load process. If it reports a failure, the soak ends. */
async function openLoad(port: number) {
  const child = children.start({ script: new URL('./soak-load.ts', import.meta.url), core: undefined })

  async function next<Kind extends SoakMessage['kind']>(kind: Kind): Promise<Extract<SoakMessage, { kind: Kind }>> {
    const [message] = (await once(child, 'message')) as [SoakMessage]
    if (message.kind === kind) return message as Extract<SoakMessage, { kind: Kind }>
    throw new Error(message.kind === 'failed' ? message.reason : `The load said ${message.kind}.`)
  }

  function ask<Kind extends SoakMessage['kind']>(request: SoakRequest, kind: Kind) {
    const answer = next(kind)
    child.send(request)
    return answer
  }

  await next('ready')
  const { connections, rate } = options
  // A user signs in again before the session expires.
  const order = { port, connections, rate, visitSeconds: SESSION_SECONDS * 0.8 }
  await ask({ kind: 'start', order }, 'started')
  child.on('message', (message: SoakMessage) => {
    if (message.kind === 'failed') giveUp(`${message.reason}\n${stage.subject.readLog()}`)
  })
  return { ask }
}

function progressOf(samples: readonly SoakSample[]): string {
  const { at = 0, endpoints = [], cpuMicros, residentMegabytes, logMegabytes, seconds = 1 } = samples.at(-1) ?? {}
  const requests = endpoints.reduce((sum, one) => sum + one.count, 0)
  const worstMs = Math.max(...endpoints.map((one) => one.worstMs))
  return `${at.toFixed(0)} s: ${(requests / seconds).toFixed(0)}/s, ${cpuMicros?.toFixed(0)} µs, worst ${worstMs.toFixed(0)} ms, ${residentMegabytes?.toFixed(0)} MB, log ${logMegabytes?.toFixed(0)} MB`
}
