import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const API_PAGE = 'docs/api.txt'

/** The declarations that the entry of the package exports. Those of tasks and settings are in the table, src/library/api-types.ts. */
const FILES = ['grantor', 'fetch', 'options', 'people', 'verify'].map((name) => `library/${name}`)
const ERRORS = ['admin/admin-error', 'config/config']

/**
 * Returns the public interface of the library from the declarations in a folder, without comments. What changes here is a change for
 * every host (docs/compatibility.md).
 */
export function publicApi(folder: string): string {
  const entry = readFileSync(join(folder, 'library/grantor.d.ts'), 'utf8')
  const names = [...entry.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace('type ', '').trim()),
  )
  const own = [...entry.matchAll(/^export (?:declare )?(?:interface|function|class|type) (\w+)/gm)].map(
    ([, name = '']) => name,
  )
  const declarations = [...FILES, ...ERRORS].flatMap((file) =>
    declarationsOf(readFileSync(join(folder, `${file}.d.ts`), 'utf8')),
  )
  const wanted = new Set([...names, ...own])
  return declarations
    .filter(([name]) => wanted.has(name))
    .map(([, text]) => `${text}\n`)
    .join('\n')
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

/** `npm run docs` writes docs/api.txt. */
if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-api-'))
  try {
    const words = ['--project', 'tsconfig.build.json', '--emitDeclarationOnly', '--noCheck', '--outDir', folder]
    execFileSync('node_modules/.bin/tsc', words, { stdio: 'inherit' })
    writeFileSync(API_PAGE, publicApi(folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
