import { mkdtempSync, rmSync } from 'node:fs'
import { stopOnSignal } from '../prove/run.ts'
import { benchFolderPrefix } from './bench-folder.ts'
import { openChildren, type Children } from './children.ts'

/** The resources of a bench, which are removed when its process ends in any way. */
export interface Bench {
  /** A folder on a disk. It is removed when the process ends. */
  readonly folder: string
  /** Child processes, which end with this process. */
  readonly children: Children
}

/** Creates the folder, and ends the process with exit code 1 after the time limit. */
export function beginBench(limitMs: number): Bench {
  const folder = mkdtempSync(benchFolderPrefix())
  const children = openChildren()
  process.once('exit', () => {
    children.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  stopOnSignal()
  setTimeout(() => giveUp('The run takes too long.'), limitMs).unref()
  return { folder, children }
}

/** Parses the command line. If it is invalid, prints why and exits with code 2. */
export function readOptionsOrExit<Options>(read: (args: readonly string[]) => Options, usage: string): Options {
  try {
    return read(process.argv.slice(2))
  } catch (cause) {
    console.error(`${(cause as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

export function giveUp(reason: string): never {
  console.error(reason)
  process.exit(1)
}
