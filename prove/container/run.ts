import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { readOptions } from '../../tools/options.ts'
import { SETTLE_MS, walkArtefact } from '../artefact.ts'
import { openFindings, printReport } from '../findings.ts'
import { buildImage } from './image.ts'

/** The steps of the Dockerfile without a container engine, and a flow against the image. See docs/proofs.md. */

const DOCKERFILE = 'deploy/container/Dockerfile'
/** What the server may write, all in the volume. */
const WRITTEN = /^grantor\.(db(-wal|-shm|\.lock|\.state)?|secret)$/

readOptions({})
beginSession()
const findings = openFindings()
const folder = openFolder()
const image = buildImage(DOCKERFILE, '.', folder)
const volume = join(folder, 'volume')
image.createVolume(volume)
const [entry, health] = [image.entrypoint, image.healthCheck]
if (health.slice(0, entry.length).join(' ') !== entry.join(' '))
  findings.report('The health check starts another program.')
const { startMs, idleMegabytes, stopMs } = await walkArtefact(
  {
    settleMs: SETTLE_MS,
    start(words, settings) {
      // What the image starts by itself is what the walk would start.
      const isServe = words[0] === 'serve'
      const command = isServe ? image.command : words[0] === 'health' ? health : [...entry, ...words]
      return image.run(volume, command, settings)
    },
  },
  findings,
)
for (const name of readdirSync(volume)) if (!WRITTEN.test(name)) findings.report(`The volume has ${name}.`)
const app = execFileSync('du', ['-sm', join(image.root, 'app')], { encoding: 'utf8' }).split('\t')[0]
printReport(
  DOCKERFILE,
  [
    `files of the image besides the base: ${app} MB`,
    `start: ${startMs.toFixed(0)} ms; idle: ${idleMegabytes.toFixed(0)} MB; stop: ${stopMs.toFixed(0)} ms`,
  ],
  findings,
)
