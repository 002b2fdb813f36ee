import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PROGRAM } from '../../tools/process/command-line.ts'

/** A backup that `grantor backup` said that it made. */
export interface MadeBackup {
  /** Its path on the disk. */
  readonly name: string
  readonly sentNs: bigint
  readonly ackNs: bigint
}

/** Where backups are, on the disk. The first one makes the folder. */
export const BACKUPS = 'backups'
/** How many the command keeps. */
const KEPT = 2
const PAUSE_MS = 200

/** Backs up the store until the end, one time after the other. */
export function openBackups(disk: string, environment: NodeJS.ProcessEnv) {
  const made: MadeBackup[] = []
  const state = { isEnding: false }
  const words = [PROGRAM, 'backup', '--to', `${join(disk, BACKUPS)}/`, '--keep', String(KEPT)]
  const working = (async () => {
    while (!state.isEnding) {
      const sentNs = process.hrtime.bigint()
      await promisify(execFile)(process.execPath, words, { env: environment })
      const ackNs = process.hrtime.bigint()
      const newest = readdirSync(join(disk, BACKUPS)).toSorted().at(-1) ?? ''
      made.push({ name: join(BACKUPS, newest), sentNs, ackNs })
      await delay(PAUSE_MS)
    }
  })()
  return {
    made,
    async end() {
      state.isEnding = true
      await working
    },
  }
}

/** What is wrong with the backups on a disk whose power was lost then: one that was made is missing, or one is not whole. */
export function faultsOfBackups(
  made: readonly MadeBackup[],
  files: ReadonlyMap<string, Buffer>,
  atNs: bigint,
): readonly string[] {
  const begun = made.filter(({ sentNs }) => sentNs <= atNs)
  // The run that is under way may have removed the oldest.
  const sure = begun.filter(({ ackNs }, index) => ackNs <= atNs && index > begun.length - 1 - KEPT)
  const missing = sure.filter(({ name }) => !files.has(name)).map(({ name }) => `${name} was made, and is missing`)
  const damaged = [...files]
    .filter(([name, content]) => /^backups\/[^/]*\.backup$/.test(name) && !isWhole(content))
    .map(([name]) => `${name} is not whole`)
  return [...missing, ...damaged]
}

/** The last line has the checksum of all others. */
function isWhole(content: Buffer): boolean {
  const last = content.lastIndexOf('\n', content.length - 2) + 1
  const sha256 = createHash('sha256').update(content.subarray(0, last)).digest('hex')
  return content.subarray(last).includes(`"sha256":"${sha256}"`)
}
