import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '../../tools/agents/random.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { cutAll, cutTimes, record } from './campaign.ts'
import { PLANTED } from './planted.ts'

/**
 * A server on SQLite keeps what it acknowledged when the power is lost. What it writes and syncs is recorded, and its disk is built as it would
 * be at each of many times (Linux, with a C compiler). See docs/proofs.md.
 */

const options = readOptions({
  runs: whole('servers that are recorded', 4, [1, 1000]),
  seconds: whole('seconds that each of them is under load', 5, [1, 600]),
  cuts: whole('losses of power in each run', 250, [1, 100_000]),
  planted: whole('losses of power in the first run with each planted defect', 20, [0, 10_000]),
  seed: whole('where the random numbers begin', 1, [0, 2 ** 31]),
})
beginSession()
const findings = openFindings()
const folder = openFolder()
const recorder = join(folder, 'recorder.so')
const source = join(import.meta.dirname, 'recorder.c')
execFileSync(process.env['CC'] ?? 'cc', ['-O2', '-fPIC', '-shared', '-o', recorder, source, '-ldl', '-lpthread'], {
  stdio: 'inherit',
})
const random = seededRandom(options.seed)
const sums = { records: 0, syncs: 0, acknowledged: 0, backups: 0 }
const lines: string[] = []
for (let index = 0; index < options.runs; index += 1) {
  const place = join(folder, String(index))
  mkdirSync(place)
  findings.progress(`run ${index + 1}: recording`)
  const run = await record(place, recorder, options.seconds)
  sums.records += run.records.length
  sums.syncs += run.records.filter(({ kind }) => kind === 'end-sync').length
  sums.acknowledged += run.things.flatMap(({ steps }) => steps).filter(({ ackNs }) => ackNs !== undefined).length
  sums.backups += run.backups.length
  findings.progress(`run ${index + 1}: ${options.cuts} losses of power`)
  for (const fault of await cutAll(run, cutTimes(run, options.cuts, random), place, random))
    findings.report(`run ${index + 1}: ${fault}`)
  if (index > 0 || options.planted === 0) continue
  for (const [name, plant] of Object.entries(PLANTED)) {
    findings.progress(name)
    const wrong = plant(run)
    const faults = await cutAll(wrong, cutTimes(wrong, options.planted, random), place, random)
    if (faults.length === 0) findings.report(`${name} was not found.`)
    lines.push(`${name}: ${faults.length} faults in ${options.planted} losses`)
  }
}
printReport(
  `${options.runs * options.cuts} losses of power of ${options.runs} servers on SQLite`,
  [
    `${sums.records} records, ${sums.syncs} syncs, ${sums.acknowledged} acknowledged steps, ${sums.backups} backups`,
    ...lines,
  ],
  findings,
)
