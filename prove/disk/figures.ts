import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openFolder } from '../../tools/process/session.ts'
import { after, type EpochMs } from '../../src/base/brand.ts'
import type { Input, OperationName, Outcome } from '../../src/ports/operations/index.ts'
import { FIGURE_SPAN_NAMES } from '../../src/ports/records/figures.ts'
import { openFigureWriter } from '../../src/server/background/figures.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Findings } from '../findings.ts'
import { fillDisk, mountTmpfs } from './mounts.ts'

/** Processes that write and merge their figures while the disk is full again and again. */

const SIZE_MIB = 4
const PROCESSES = 3
const MINUTE_MS = 60_000
/** 2027-01-15. */
const BEGINNING = 1_800_000_000_000 as EpochMs

/** Fills the disk at each third time at which figures are due, and stops and starts a process at each fifth. */
export async function proveFigures(findings: Findings, rounds: number): Promise<readonly string[]> {
  const folder = join(openFolder(), 'figures')
  mkdirSync(folder)
  const disk = join(folder, 'disk')
  mountTmpfs(disk, SIZE_MIB)
  const path = join(disk, 'grantor.db')
  const driver = openSqliteStore({ path, patienceMs: 50, checkpoints: 'inline' })
  let refused = 0
  const perform = async <Name extends OperationName>(name: Name, input: Input<Name>): Promise<Outcome<Name>> => {
    refused += 1
    const [result] = await driver.commit([{ name, input } as never])
    if (result?.kind !== 'done') throw result?.cause
    refused -= 1
    return result.outcome as Outcome<Name>
  }
  let now = BEGINNING
  let issued = 0
  const open = () => {
    let tokens = 0
    const writer = openFigureWriter({
      clock: () => now,
      clockCheck: { differenceMs: () => 0 } as never,
      random: randomBytes,
      store: {
        writeFigures: (record) => perform('writeFigures', record),
        mergeFigures: (key) => perform('mergeFigures', key),
      },
      count: () => [
        { name: 'grantor_requests_total', labels: ['token', 'token.issued', 'refresh_token', '200'], value: tokens },
      ],
      logger: { warn: () => undefined },
    })
    const issue = (): void => {
      tokens += 1
      issued += 1
    }
    return { ...writer, issue }
  }
  const processes = Array.from({ length: PROCESSES }, open)
  for (let round = 1; round <= rounds * 3; round += 1) {
    for (const { issue } of processes) issue()
    now = after(now, 5 * MINUTE_MS)
    const makeRoom = round % 3 === 0 ? fillWhole(disk, path) : undefined
    await Promise.all(processes.map(({ write }) => write()))
    makeRoom?.()
    if (round % 5 !== 0) continue
    await Promise.all(processes.map(({ write }) => write()))
    await processes.shift()?.close()
    processes.push(open())
  }
  for (const process of processes) {
    await process.write()
    await process.close()
  }
  for (const span of FIGURE_SPAN_NAMES) {
    const page = { span, since: 0 as EpochMs, until: after(now, 1), before: undefined, limit: 100_000 }
    const rows = await driver.listFigures(page)
    const found = rows.reduce((sum, { counts }) => sum + (counts.tokens?.['refresh_token'] ?? 0), 0)
    if (found !== issued) findings.report(`The rows of ${span} have ${found} tokens of ${issued}.`)
  }
  if (refused === 0) findings.report('The full disk refused no figures.')
  await driver.close()
  return [
    `figures: ${issued} tokens of ${PROCESSES} processes, ${refused} times refused on a full disk, each counted once`,
  ]
}

/** Fills the disk, after what the log of the database had allocated was given back. Returns the function that makes room again. */
function fillWhole(disk: string, path: string): () => void {
  const database = new DatabaseSync(path)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  return fillDisk(disk)
}
