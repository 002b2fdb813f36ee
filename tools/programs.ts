import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A program of `bench` or `prove` is the file `run.ts` in a folder of its name. It begins with a comment that describes it. */

const ROOT = new URL('../', import.meta.url).pathname

/**
 * Runs the program of a folder that the command line names, with the rest of the command line as its own. Without a name it lists the
 * programs. It exits with 2 if there is none of that name.
 */
export async function runProgram(kind: string): Promise<void> {
  const [name, ...rest] = process.argv.slice(2)
  if (name === undefined || name === '--help') return console.log(listPrograms(kind))
  const file = join(ROOT, kind, name, 'run.ts')
  if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
    console.error(`There is no "${name}".\n\n${listPrograms(kind)}`)
    process.exit(2)
  }
  // The program reads its options as if it had been started itself.
  process.argv.splice(1, Infinity, file, ...rest)
  await import(pathToFileURL(file).href)
}

/** Returns what is typed after `npm run` for the program in a file. */
export function programName(file: string): string {
  const folder = dirname(file)
  return `${basename(dirname(folder))} ${basename(folder)}`
}

/** Returns the first comment of a program. Its first sentence is the line of the list. @throws Error if there is none */
export function programDescription(file: string): string {
  const [, comment] = /^\/\*\*([\s\S]*?)\*\//m.exec(readFileSync(file, 'utf8')) ?? []
  if (comment === undefined) throw new Error(`${file} has no description.`)
  return comment.replaceAll(/\s+(?:\* )?/g, ' ').trim()
}

function listPrograms(kind: string): string {
  const files = globSync(join(ROOT, kind, '*/run.ts')).toSorted()
  const width = Math.max(...files.map((file) => programName(file).length))
  const lines = files.map((file) => {
    const [sentence = ''] = programDescription(file).split(/\.(?: |$)/)
    return `  ${programName(file)
      .slice(kind.length + 1)
      .padEnd(width - kind.length - 1)}  ${sentence}`
  })
  return [`npm run ${kind} <name> -- [options]`, ...lines].join('\n')
}
