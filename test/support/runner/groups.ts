import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The name of the test that ends each file of a group. It is not counted. */
export const END_OF_FILE = 'the end of a file'
/** The line of the error output with an error that nothing in a group caught begins so, and the rest is JSON. */
export const UNCAUGHT = 'An error that nothing caught: '

/** Test files that run one after the other in one process. */
export interface Group {
  /** The folder below `test/`, with a number if it has several groups, or the file if it is alone. */
  readonly name: string
  readonly files: readonly string[]
}

/** Files that take long run beside all others. Those of the contract record what their whole process does. */
const SEPARATE = /^test\/(release|repository\/walkthrough|browser\/accessibility|store\/contract)/

/** So many files of a folder, with what they wait for, end before the rest of a run does. */
const FILES_IN_GROUP = 32

/**
 * The groups of these files: the files of a folder below `test/` and of those in it share a process, or a few. A process of its own costs a file 0.25 s to load the modules
 * of the server, and the code in it stays slow, because V8 compiles only what ran often.
 */
export function groupsOf(files: readonly string[]): readonly Group[] {
  const isSeparate = (file: string): boolean => SEPARATE.test(file)
  const folders = Map.groupBy(files.toSorted(), (file) => (isSeparate(file) ? file : folderOf(file)))
  return [...folders].flatMap(([name, ofFolder]) => {
    const count = Math.ceil(ofFolder.length / FILES_IN_GROUP)
    const part = (index: number): readonly string[] => ofFolder.filter((_, at) => at % count === index)
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? name : `${name} ${index + 1}`,
      files: part(index),
    }))
  })
}

/** `test/endpoints` for `test/endpoints/account/data.test.ts`. */
function folderOf(file: string): string {
  return dirname(file).split('/').slice(0, 2).join('/')
}

/** Writes the module that runs a group, and returns its path. */
export function writeEntry(folder: string, { name, files }: Group): string {
  const path = join(folder, `${name.replaceAll(/[/ ]/g, '-')}.mjs`)
  const urls = files.map((file) => pathToFileURL(file).href)
  const runner = pathToFileURL(join(import.meta.dirname, 'shared-process.ts')).href
  writeFileSync(path, `import { runFiles } from '${runner}'\nawait runFiles(${JSON.stringify(urls)})\n`)
  return path
}
