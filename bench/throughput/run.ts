import { loadavg } from 'node:os'
import { chooseCores, type Cores } from '../../tools/process/children.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { readOptions } from '../../tools/options.ts'
import { beginSession, giveUp, openFolder } from '../../tools/process/session.ts'
import { startBareServer } from '../load/bare-server.ts'
import { startGenerator } from '../load/generator.ts'
import { saveResult } from '../results.ts'
import { measure, type Measurement } from './measure.ts'
import { checkOptions, OPTIONS, type Options } from './options.ts'
import { passesGate, renderReport, type Report } from './report.ts'
import { startServers } from './servers.ts'

/**
 * Requests per second of each endpoint, and their ratio to a bare node:http server. Both servers get the same load
 * in turn. See docs/performance.md.
 */

const options = readOptions(OPTIONS, checkOptions)
beginSession(limitMs(options))

// The combined rate of several processes is meaningful only if each may use every core.
const cores = options.workers === 1 ? chooseCores() : undefined
const loadBefore = loadavg()[0] ?? 0
const report = await run(cores)
console.log(options.json ? JSON.stringify(report, undefined, 2) : renderReport(report))
saveResult(report, options.save)
process.exitCode = options.gate && !report.endpoints.every(passesGate) ? 1 : 0

async function run(pinned: Cores | undefined): Promise<Report> {
  let readLogs = (): string => ''
  try {
    const servers = await startServers(openFolder(), options, pinned)
    readLogs = servers.readLogs
    const bare = await startBareServer(pinned?.servers)
    const generator = await startGenerator(pinned?.generator)
    const measurements: Measurement[] = []
    for (const name of options.only) {
      for (const { subject, endpoints } of servers.list) {
        const endpoint = endpoints.find((one) => one.name === name)
        if (endpoint === undefined) continue
        if (!options.json) console.error(`${name}, ${subject.name} …`)
        for (const connections of options.connections)
          measurements.push(await measure({ generator, bare, subject }, endpoint, connections, options))
      }
    }
    await servers.close()
    const { rounds, seconds, workers } = options
    const machine = { ...readMachine(), pinned: pinned !== undefined, postgres: servers.postgresVersion, loadBefore }
    return { date: today(), machine, rounds, seconds, workers, endpoints: measurements }
  } catch (cause) {
    return giveUp(`${String(cause)}\n${readLogs()}`)
  }
}

/** The time limit: twice the expected time, and the time of the start. */
function limitMs({ only, connections, rounds, seconds, store, peers }: Options): number {
  const servers = (store === 'sqlite' ? 1 : 2) + peers.length
  return 60_000 + servers * only.length * connections.length * (rounds + 4) * 2 * (seconds * 2 + 2) * 1000
}
