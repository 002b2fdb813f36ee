import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeTexts } from '../src/cli/docs/texts.ts'
import { findCommit } from '../src/server/version.ts'
import { billOfMaterials, type Described } from './cyclonedx.ts'
import { bundleSources } from './bundle.ts'
import { requireDevelopmentPackages } from './development-packages.ts'
import { digestOfFile } from './folder.ts'
import { buildKit, KIT_COMMAND } from './kit.ts'
import { API_TYPES_FILE, originOf, publishedManifest, type Manifest } from './manifest.ts'
import { publishedPage, publishedPages } from './pages.ts'
import { bundleTypes, TYPES_FILE } from './public-types.ts'

const OUTPUT = 'dist'
const PACKAGE = join(OUTPUT, 'package')
/** Of the packed file, which each `npx grantor` downloads. */
export const SIZE_LIMIT = 1_400_000
export const COMMAND = 'bin/grantor.js'
/** The programs of a checkout that find and link its own Node.js are not published. */
const PROGRAMS = [COMMAND, 'bin/this-node.js', 'bin/compile-cache.js']

/**
 * The compiler, a Go program, runs with one thread, because the tests use all cores and several threads check some files twice. It collects no
 * garbage before it has two gibibytes, because it ends soon: that saves a sixth of its time.
 */
export const COMPILER_ENVIRONMENT = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '2GiB' }

/**
 * `npm run build`: makes the folder of the published package. The sources are compiled to JavaScript with types, because Node.js
 * reads no TypeScript below node_modules. A checkout runs without it.
 *
 * @throws Error with what the compiler printed
 */
export async function buildPackage(folder = PACKAGE): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  writeTexts()
  await bundleSources(join(folder, 'lib'))
  writeFileSync(join(folder, 'lib', TYPES_FILE), publicTypes(join(folder, 'types')))
  for (const file of [...PROGRAMS, API_TYPES_FILE]) cpSync(file, join(folder, file))
  const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  writePages(folder, checkout)
  const manifest = publishedManifest(checkout, findCommit('.git'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/**
 * Checks the sources with the options of a release, and returns the one file of the types that a program can import. Several threads of the compiler
 * would take twice the processor time.
 */
function publicTypes(folder: string): string {
  const words = ['--project', 'tsconfig.build.json', '--singleThreaded', '--emitDeclarationOnly', '--outDir', folder]
  const env = { ...process.env, ...COMPILER_ENVIRONMENT }
  const { status, stdout } = spawnSync('node_modules/.bin/tsc', words, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`The compiler does not accept the sources:\n${stdout}`)
  const types = bundleTypes(folder)
  rmSync(folder, { recursive: true })
  return types
}

function writePages(folder: string, checkout: Manifest): void {
  const pages = publishedPages()
  for (const page of pages) {
    if (page.endsWith('.md')) {
      const text = publishedPage(page, readFileSync(page, 'utf8'), pages, originOf(checkout))
      mkdirSync(dirname(join(folder, page)), { recursive: true })
      writeFileSync(join(folder, page), text)
    } else cpSync(page, join(folder, page))
  }
}

/**
 * Packs the folder of a package into the folder above it. Returns the path of the packed file. `command`: its program. npm sets the times, the owner and the order of
 * the files, and keeps their modes, which depend on the umask.
 */
export function packFolder(folder: string, command: string): string {
  for (const file of globSync(`${folder}/**/*`, { withFileTypes: true }))
    if (file.isFile()) chmodSync(join(file.parentPath, file.name), 0o644)
  chmodSync(join(folder, command), 0o755)
  return join(dirname(folder), npm(folder, 'pack', '--silent', '--pack-destination', '..'))
}

/**
 * `npm run pack`: builds the package, packs it, and writes its software bill of materials (CycloneDX), with the versions of the
 * lockfile. Returns the path of the packed file.
 */
export async function packPackage(): Promise<string> {
  await buildPackage()
  const packed = packFolder(PACKAGE, COMMAND)
  cpSync('package-lock.json', join(PACKAGE, 'package-lock.json'))
  npm(PACKAGE, 'install', '--package-lock-only', '--ignore-scripts', '--silent')
  const written = npm(PACKAGE, 'sbom', '--package-lock-only', '--sbom-format=cyclonedx')
  writeFileSync(billOf(packed), billOfMaterials(written, describe(packed)))
  rmSync(join(PACKAGE, 'package-lock.json'))
  return packed
}

/** The path of the bill of materials of a packed package. */
export function billOf(packed: string): string {
  return packed.replace(/\.tgz$/, '.cdx.json')
}

export function describe(packed: string): Described {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' })
  return { version, digest: digestOfFile(packed), at: new Date(Number(seconds) * 1000) }
}

function npm(folder: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

if (import.meta.main) {
  const script = process.argv[2] === 'pack' ? 'pack' : 'build'
  requireDevelopmentPackages(script, 'typescript', 'esbuild')
  try {
    if (script === 'pack') console.log(await packPackage())
    else await buildPackage()
    const kit = await buildKit()
    if (script === 'pack') console.log(packFolder(kit, KIT_COMMAND))
  } catch (cause) {
    console.error(`npm run ${script}: ${(cause as Error).message}`)
    process.exitCode = 1
  }
}
