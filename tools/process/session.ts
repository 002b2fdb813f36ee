import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The resources of a tool end with its process, however the process ends. */

const TMPFS_MAGIC = 0x01021994
const folders: string[] = []

/** Exits at Ctrl-C and SIGTERM, so that all child processes end with this process. With a time limit, it exits with 1 after it. */
export function beginSession(limitMs?: number): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => process.exit(code))
  }
  if (limitMs !== undefined) setTimeout(() => giveUp('The run takes too long.'), limitMs).unref()
}

/** A folder on a disk, because a commit in memory costs nothing. It is removed when the process ends. */
export function openFolder(): string {
  const inMemory = statfsSync(tmpdir()).type === TMPFS_MAGIC
  const parent = inMemory ? new URL('../../.cache', import.meta.url).pathname : tmpdir()
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'grantor-tool-'))
  if (folders.length === 0)
    process.once('exit', () => folders.forEach((one) => rmSync(one, { recursive: true, force: true })))
  folders.push(folder)
  return folder
}

export function giveUp(reason: string): never {
  console.error(reason)
  process.exit(1)
}
