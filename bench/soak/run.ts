import { execFile } from 'node:child_process'
import { statSync, truncateSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { readMachine, today } from '../../tools/machine.ts'
import { readOptions } from '../../tools/options.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { beginSession, giveUp, openFolder } from '../../tools/process/session.ts'
import { sum } from '../../tools/statistics.ts'
import { fixed } from '../../tools/table.ts'
import { saveResult } from '../results.ts'
import { startSoakLoad } from './load.ts'
import { OPTIONS } from './options.ts'
import { renderSoak, sampleOf, type SoakResult, type SoakSample } from './report.ts'
import { countRows } from './rows.ts'
import { LIFETIMES, openSetup, SESSION_SECONDS, type SoakSetup } from './setup.ts'

/**
 * Half an hour of all kinds of requests, with sweeps and changes of the signing key. Lifetimes are so short that
 * rows expire all the time. Meanwhile the log is moved into the file. See docs/performance.md.
 */

/** The interval at which the size of the log is read. */
const LOG_SAMPLE_MS = 100
/** The file with the server's log is truncated when it is larger. */
const SERVER_LOG_LIMIT_BYTES = 256 * 1024 * 1024
/** Time for the start, the filling and the end. */
const SPARE_MS = 15 * 60_000
const MAIN = new URL('../../src/cli/main.ts', import.meta.url).pathname

const options = readOptions(OPTIONS)
beginSession(options.minutes * 60_000 + SPARE_MS)

const setup = await openSetup(openFolder(), options)
try {
  const result = await soak(setup)
  console.log(renderSoak(result))
  saveResult(result, options.save)
  process.exitCode = result.failed === 0 ? 0 : 1
  await setup.close()
} catch (cause) {
  giveUp(`${String(cause)}\n${setup.server.readLog()}`)
}

async function soak({ server, reader }: SoakSetup): Promise<SoakResult> {
  const rowsBefore = await countRows(reader, LIFETIMES)
  const load = await startSoakLoad()
  const { connections, rate } = options
  // A user signs in again before the session expires.
  await load.call('start', { port: server.port, connections, rate, sessionSeconds: SESSION_SECONDS * 0.8 })
  const rotateKey = openKeyRotation(server.settings)
  const startMs = performance.now()
  const count = Math.max(1, Math.round((options.minutes * 60) / options.sample))
  const samples: SoakSample[] = []
  const rotationsAt: number[] = []
  let logBytes = 0
  const timer = setInterval(() => {
    void reader.readBytes().then(({ log }) => (logBytes = Math.max(logBytes, log)))
  }, LOG_SAMPLE_MS)
  let failed = 0
  let failures: readonly string[] = []
  let atMs = startMs
  let cpuMs = readTreeUsage(server.pid)?.cpuMs ?? Number.NaN

  for (let number = 1; number <= count; number += 1) {
    const rotating = isTimeToRotate(number, count) ? rotateKey() : Promise.resolve()
    await Promise.all([rotating, delay(startMs + number * options.sample * 1000 - performance.now())])
    const interval = await load.call('read')
    const usage = readTreeUsage(server.pid)
    const bytes = await reader.readBytes()
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
    if (statSync(server.logPath).size > SERVER_LOG_LIMIT_BYTES) truncateSync(server.logPath)
    if (number % 6 === 0) console.error(progressOf(samples))
  }
  clearInterval(timer)
  await load.call('stop')
  await delay(options.settle * 1000)
  const rowsAfter = await countRows(reader, LIFETIMES)
  const machine = readMachine()
  return {
    kind: 'soak',
    date: today(),
    machine,
    options,
    samples,
    rotationsAt,
    rowsBefore,
    rowsAfter,
    failed,
    failures,
  }
}

/** The times of the rotations, spread over the whole load except for the first and the last sample. */
function isTimeToRotate(number: number, count: number): boolean {
  const part = (at: number): number => Math.floor((at * (options.rotations + 1)) / count)
  return number < count && part(number) > part(number - 1)
}

/**
 * Returns a function that changes the signing key of the running server as an operator does: it creates the next key, which signs
 * in ten seconds, and withdraws an old key.
 */
function openKeyRotation(settings: Readonly<Record<string, string>>): () => Promise<void> {
  const made: string[] = []
  const run = promisify(execFile)

  async function grantor(...args: readonly string[]): Promise<string> {
    const env = { PATH: process.env['PATH'] ?? '', ...settings }
    return (await run(process.execPath, [MAIN, 'key', ...args], { env })).stdout
  }

  return async () => {
    const { kid } = JSON.parse(await grantor('rotate', '--now', '--json')) as { kid: string }
    made.push(kid)
    // Tokens live for a minute, so all tokens that the third newest key signed have expired.
    const old = made.at(-4)
    if (old !== undefined) await grantor('retire', old)
  }
}

function progressOf(samples: readonly SoakSample[]): string {
  const { at = 0, endpoints = [], cpuMicros, residentMegabytes, logMegabytes, seconds = 1 } = samples.at(-1) ?? {}
  const requests = sum(endpoints.map(({ count }) => count))
  const worstMs = Math.max(...endpoints.map((one) => one.worstMs))
  return `${at.toFixed(0)} s: ${(requests / seconds).toFixed(0)}/s, ${fixed(cpuMicros, 0)} µs, worst ${worstMs.toFixed(0)} ms, ${fixed(residentMegabytes, 0)} MB, log ${fixed(logMegabytes, 0)} MB`
}
