import { spawn } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { names, readOptions } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { newSecret } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { buildSingle } from '../../release/single.ts'
import { SETTLE_MS, walkArtefact } from '../artefact.ts'
import { openFindings, printReport } from '../findings.ts'

/** A flow against the single executable file, on both stores. See docs/proofs.md. */

const WORKERS = ['--workers', '2']

const { only } = readOptions({ only: names('the stores', ['sqlite', 'postgres'], 'all') })
beginSession()
const findings = openFindings()
const file = resolve(await buildSingle('x64'))
const lines = [`${basename(file)}: ${(statSync(file).size / 1e6).toFixed(0)} MB`]
for (const store of only) {
  const folder = join(openFolder(), store)
  mkdirSync(folder)
  const postgres = store === 'postgres' ? await startPostgres({}) : undefined
  const url = (await postgres?.createDatabase())?.url ?? `sqlite:${join(folder, 'grantor.db')}`
  const own = { DATABASE_URL: url, ...(postgres !== undefined && { GRANTOR_SECRET: newSecret() }) }
  const { startMs, idleMegabytes, stopMs } = await walkArtefact(
    {
      settleMs: SETTLE_MS,
      start(words, settings) {
        const flags = words[0] === 'serve' && postgres !== undefined ? WORKERS : []
        // No program is on the path, and nothing is beside the file.
        return spawn(file, [...words, ...flags], { cwd: folder, env: { PATH: '', ...own, ...settings } })
      },
    },
    findings,
  )
  await postgres?.remove()
  lines.push(
    `${store}${postgres === undefined ? '' : `, ${WORKERS.join(' ')}`}: start ${startMs.toFixed(0)} ms; idle ${idleMegabytes.toFixed(0)} MB; stop ${stopMs.toFixed(0)} ms`,
  )
}
printReport('the single executable file', lines, findings)
