import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Test files that run one after the other in one process. */
export interface Group {
  /** The folder, or the file if it is alone. */
  readonly name: string
  readonly files: readonly string[]
}

/** Files that take long, mostly because of other processes, run beside each other. One records what its whole process does. */
const SEPARATE = /^test\/(bench|crash|prove|release|repository|tools|browser\/accessibility|store\/portable-sql)/

/**
 * The groups of these files: the files of a folder share a process. A process of its own costs a file 0.25 s to load the modules
 * of the server, and the code in it stays slow, because V8 compiles only what ran often.
 */
export function groupsOf(files: readonly string[]): readonly Group[] {
  const isSeparate = (file: string): boolean => SEPARATE.test(file)
  const groups = Map.groupBy(files.toSorted(), (file) => (isSeparate(file) ? file : dirname(file)))
  return [...groups].map(([name, ofGroup]) => ({ name, files: ofGroup }))
}

/** Writes the module that runs a group, and returns its path. */
export function writeEntry(folder: string, { name, files }: Group): string {
  const path = join(folder, `${basename(name)}-${name.replaceAll('/', '-')}.mjs`)
  const urls = files.map((file) => pathToFileURL(file).href)
  const runner = pathToFileURL(join(import.meta.dirname, 'shared-process.ts')).href
  writeFileSync(path, `import { runFiles } from '${runner}'\nawait runFiles(${JSON.stringify(urls)})\n`)
  return path
}
