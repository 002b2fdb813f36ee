import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const API_PAGE = 'docs/api.txt'

const ENTRY = 'library/grantor.d.ts'

/**
 * Returns the public interface of the library from the declarations in a folder, without comments. What changes here is a change for
 * every host (docs/compatibility.md).
 */
export function publicApi(folder: string): string {
  const entry = readFileSync(join(folder, ENTRY), 'utf8')
  const own = [...entry.matchAll(/^export (?:declare )?(?:interface|function|class|type) (\w+)/gm)].map(
    ([, name = '']) => name,
  )
  // The types of tasks and settings are a generated table, of which `export type *` exports all.
  const others = [...entry.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)]
  const exported = others.flatMap(([, list = '', path = '']) => {
    const names = list.split(',').map((name) => name.replace('type ', '').trim())
    return declarationsIn(join(folder, 'library', path.replace(/\.[jt]s$/, '.d.ts')), names)
  })
  return [...declarationsIn(join(folder, ENTRY), own), ...exported].join('\n')
}

/** The declarations of these names, in the order of the file. @throws Error if one is not declared there */
function declarationsIn(path: string, names: readonly string[]): readonly string[] {
  const found = declarationsOf(readFileSync(path, 'utf8')).filter(([name]) => names.includes(name))
  const missing = names.filter((name) => !found.some(([declared]) => declared === name))
  if (missing.length > 0) throw new Error(`${path} does not declare ${missing.join(', ')}.`)
  return found.map(([, text]) => `${text}\n`)
}

/** The exported declarations of a file, each with its name. */
function declarationsOf(text: string): readonly (readonly [name: string, text: string])[] {
  const plain = text
    .replaceAll(/\/\*\*[^]*?\*\/\s*/g, '')
    .replaceAll(/^ +/gm, (indent) => ' '.repeat(indent.length / 2))
  const found = plain.matchAll(
    /^export (?:declare )?(?:(?:interface|class) (?<block>\w+)[^]*?^\}|(?:function|type) (?<line>\w+)[^]*?;$)/gm,
  )
  return [...found].map(({ 0: declaration, groups }) => [groups?.['block'] ?? groups?.['line'] ?? '', declaration])
}

/** Makes the compiler write the declarations of all sources into a folder. Several threads would take twice the processor time. */
function emitDeclarations(folder: string): void {
  const words = [
    '--project',
    'tsconfig.build.json',
    '--emitDeclarationOnly',
    '--noCheck',
    '--singleThreaded',
    '--outDir',
    folder,
  ]
  execFileSync('node_modules/.bin/tsc', words, { stdio: 'inherit' })
}

/** `npm run docs` writes docs/api.txt. */
if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-api-'))
  try {
    emitDeclarations(folder)
    writeFileSync(API_PAGE, publicApi(folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
