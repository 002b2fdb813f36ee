import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleTypes, withoutComments } from './public-types.ts'

export const API_PAGE = 'test/release/api.txt'

/** Returns the public interface of the library without comments. What changes here is a change for every host (docs/compatibility.md). */
export function publicApi(types: string): string {
  return withoutComments(types)
    .replaceAll(/^ +/gm, (indent) => ' '.repeat(indent.length / 2))
    .replaceAll(/^(?=(?:export )?(?:declare )?(?:interface|class|function|type|const) )/gm, '\n')
    .replace(/\nexport \{\};\n$/, '\n')
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

/** `npm run docs` writes test/release/api.txt, with which a test compares. */
if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-api-'))
  try {
    emitDeclarations(folder)
    writeFileSync(API_PAGE, publicApi(bundleTypes(folder)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
