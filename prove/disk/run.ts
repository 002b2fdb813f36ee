import { names, readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveFullDisk, proveReadOnly } from './campaign.ts'
import { proveFigures } from './figures.ts'
import { enterMountNamespace } from './mounts.ts'

/** A disk that is full, that becomes read-only, and that recovers, under SQLite. See docs/proofs.md. */

const { only, rounds } = readOptions({
  only: names('the faults', ['full', 'figures', 'read-only'], 'all'),
  rounds: whole('how often the disk becomes full', 10, [1, 1000]),
})

enterMountNamespace()
beginSession()
const findings = openFindings()
const lines: string[] = []
if (only.includes('full')) lines.push(...(await proveFullDisk(findings, rounds)))
if (only.includes('figures')) lines.push(...(await proveFigures(findings, rounds)))
if (only.includes('read-only')) lines.push(...(await proveReadOnly(findings)))
printReport('SQLite on a disk of 24 MiB', lines, findings)
