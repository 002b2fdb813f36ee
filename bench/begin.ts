import { mkdtempSync, rmSync } from 'node:fs'
import { stopOnSignal } from '../prove/run.ts'
import { benchFolderPrefix } from './bench-folder.ts'
import { openChildren, type Children } from './children.ts'

/** What a bench works with, until its process ends in any way. */
export interface Bench {
  /** On a disk; gone with the process. */
  readonly folder: string
  /** Processes that end with it. */
  readonly children: Children
}

/** Makes the folder, and ends the process with exit code 1 when it takes longer than it may. */
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

/** What the command line says, or exit code 2 with what is wrong with it. */
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
