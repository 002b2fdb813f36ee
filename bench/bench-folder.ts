import { mkdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const TMPFS_MAGIC = 0x01021994

/** What the name of a temporary folder begins with. A commit in memory costs nothing, so it lies on a disk. */
export function benchFolderPrefix(): string {
  const inMemory = statfsSync(tmpdir()).type === TMPFS_MAGIC
  const parent = inMemory ? new URL('../.cache', import.meta.url).pathname : tmpdir()
  mkdirSync(parent, { recursive: true })
  return join(parent, 'grantor-bench-')
}
