import { mkdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const TMPFS_MAGIC = 0x01021994

/** The prefix of temporary folders. They are on a disk, because a commit in memory costs nothing. */
export function benchFolderPrefix(): string {
  const inMemory = statfsSync(tmpdir()).type === TMPFS_MAGIC
  const parent = inMemory ? new URL('../.cache', import.meta.url).pathname : tmpdir()
  mkdirSync(parent, { recursive: true })
  return join(parent, 'grantor-bench-')
}
