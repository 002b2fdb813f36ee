import { once } from 'node:events'
import { loadavg } from 'node:os'
import { startBare } from './bare.ts'
import { beginBench, readOptionsOrExit } from './begin.ts'
import { chooseCores, type Children, type Cores } from './children.ts'
import { measure, type Measurement } from './measure.ts'
import { readOptions, USAGE, type Options } from './options.ts'
import { passesGate, renderReport, type Report } from './report.ts'
import { describeMachine, saveResult, today } from './result.ts'
import { startSubjects } from './subjects.ts'

/** `npm run bench` puts the real server and a bare server under the same load in turn. See docs/performance.md. */

const options = readOptionsOrExit(readOptions, USAGE)
const { folder, children } = beginBench(limitMs(options))

// The combined rate of several processes is meaningful only if each may use every core.
const cores = options.workers === 1 ? chooseCores() : undefined
const loadBefore = loadavg()[0] ?? 0
const report = await run(children, cores)
console.log(options.isJson ? JSON.stringify(report, undefined, 2) : renderReport(report))
if (options.save !== undefined) saveResult(report, options.save)
process.exitCode = options.isGated && !report.endpoints.every(passesGate) ? 1 : 0

async function run(started: Children, pinned: Cores | undefined): Promise<Report> {
  let readLogs = (): string => ''
  try {
    const subjects = await startSubjects(started, folder, options, pinned)
    readLogs = subjects.readLogs
    const bare = await startBare(started, pinned?.servers)
    const generator = started.start({ script: new URL('./generator.ts', import.meta.url), core: pinned?.generator })
    await once(generator, 'message')
    const endpoints: Measurement[] = []
    for (const name of options.only) {
      for (const { subject, endpoints: known } of subjects.list) {
        const endpoint = known.find((one) => one.name === name)
        if (endpoint === undefined) continue
        if (!options.isJson) console.error(`${name}, ${subject.name} …`)
        for (const connections of options.connections) {
          endpoints.push(await measure({ generator, bare, subject }, endpoint, connections, options))
        }
      }
    }
    await subjects.close()
    const { rounds, seconds } = options
    return {
      date: today(),
      machine: {
        ...describeMachine(),
        pinned: cores !== undefined,
        postgres: subjects.postgresVersion,
        loadBefore,
      },
      rounds,
      seconds,
      workers: options.workers,
      endpoints,
    }
  } catch (cause) {
    console.error(`${String(cause)}\n${readLogs()}`)
    process.exit(1)
  }
}

/** The time limit: twice the expected time, and the time of the start. */
function limitMs({ only, connections, rounds, seconds, store, peers }: Options): number {
  const subjects = (store === 'sqlite' ? 1 : 2) + peers.length
  return 60_000 + subjects * only.length * connections.length * (rounds + 4) * 2 * (seconds * 2 + 2) * 1000
}
