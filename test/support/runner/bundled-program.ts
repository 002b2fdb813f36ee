import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleSources } from '../../../release/bundle.ts'
import { publishedManifest, type Manifest } from '../../../release/manifest.ts'
import { findCommit } from '../../../src/server/version.ts'
import { COMPILE_CACHE } from './compile-cache.ts'

/** Below node_modules, because the program loads packages. */
const FOLDER = join('node_modules', '.cache', 'grantor-program')
/** Another run of this checkout may still load chunks that this one does not have. */
const KEPT_MS = 86_400_000

/**
 * Makes of the sources the program that the package has, and returns its path. It starts in two thirds of the processor time of the sources, and a
 * run of all tests starts it about 300 times.
 */
export async function bundleProgram(): Promise<string> {
  const lib = join(FOLDER, 'lib')
  const written = new Set(await bundleSources(lib))
  const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(publishedManifest(checkout, findCommit('.git'))))
  for (const file of globSync(join(lib, 'chunks', '*')))
    if (!written.has(join(process.cwd(), file)) && statSync(file).mtimeMs < Date.now() - KEPT_MS) rmSync(file)
  const program = join(process.cwd(), lib, 'cli', 'main.js')
  compile([program, ...[...written].filter((path) => path.includes('/chunks/'))])
  return program
}

/** Compiles the modules once. Else each process of the first minutes would, and those that are killed keep nothing. */
function compile(modules: readonly string[]): void {
  const words = ['--input-type=module', '--eval', 'for (const path of process.argv.slice(1)) await import(path)']
  execFileSync(process.execPath, [...words, ...modules], { env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE } })
}
