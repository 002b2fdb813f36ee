import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeTexts } from '../src/cli/docs/texts.ts'
import { findCommit } from '../src/server/version.ts'
import { requireDevelopmentPackages } from './development-packages.ts'
import { API_TYPES_FILE, PAGES, publishedManifest, type Manifest } from './manifest.ts'

const OUTPUT = 'dist'
const PACKAGE = join(OUTPUT, 'package')
/** The types that a program imports. */
const TYPES = 'lib/library/grantor.d.ts'
const MIGRATIONS = 'store/migrations'
/** The programs of a checkout that find and link its own Node.js are not published. */
const PROGRAMS = ['bin/grantor.js', 'bin/this-node.js', 'bin/compile-cache.js']

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
export function buildPackage(folder = PACKAGE): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'lib', MIGRATIONS), { recursive: true })
  writeTexts()
  compile(join(folder, 'lib'))
  removeTypes(folder, typesFrom(join(folder, TYPES)))
  for (const file of globSync([`src/${MIGRATIONS}/*.sql`, 'src/passwords/*.txt']))
    cpSync(file, join(folder, file.replace('src/', 'lib/')))
  for (const file of [...PROGRAMS, API_TYPES_FILE, ...publishedPages()]) cpSync(file, join(folder, file))
  const manifest = publishedManifest(JSON.parse(readFileSync('package.json', 'utf8')) as Manifest, findCommit('.git'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** Several threads of the compiler would take twice the processor time. */
function compile(folder: string): void {
  const words = ['--project', 'tsconfig.build.json', '--singleThreaded', '--outDir', folder]
  const env = { ...process.env, ...COMPILER_ENVIRONMENT }
  const { status, stdout } = spawnSync('node_modules/.bin/tsc', words, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`The compiler does not accept the sources:\n${stdout}`)
}

/** The file and those whose types it uses, at any remove. */
function typesFrom(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file) || !existsSync(file)) return found
  found.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.[^'"]*)\.ts['"]/g))
    typesFrom(join(dirname(file), `${path}.d.ts`), found)
  return found
}

/** Removes types that no program can import, which are a sixth of the package. */
function removeTypes(folder: string, kept: ReadonlySet<string>): void {
  for (const file of globSync(`${folder}/lib/**/*.d.ts`)) if (!kept.has(file)) rmSync(file)
}

/**
 * The pages of the published package, with all that they link to. What git does not track, such as the secrets of the compose files,
 * is not published.
 */
export function publishedPages(): readonly string[] {
  return execFileSync('git', ['ls-files', '-z', '--', ...PAGES], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

/** Packs the folder of a package into the folder above it. Returns the path of the packed file. */
export function packFolder(folder: string): string {
  return join(dirname(folder), npm(folder, 'pack', '--silent', '--pack-destination', '..'))
}

/**
 * `npm run pack`: builds the package, packs it, and writes its software bill of materials (CycloneDX), with the versions of the
 * lockfile. Returns the path of the packed file.
 */
export function packPackage(): string {
  buildPackage()
  const packed = packFolder(PACKAGE)
  cpSync('package-lock.json', join(PACKAGE, 'package-lock.json'))
  npm(PACKAGE, 'install', '--package-lock-only', '--ignore-scripts', '--silent')
  const materials = npm(PACKAGE, 'sbom', '--package-lock-only', '--sbom-format=cyclonedx')
  writeFileSync(packed.replace(/\.tgz$/, '.cdx.json'), materials)
  rmSync(join(PACKAGE, 'package-lock.json'))
  return packed
}

function npm(folder: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

if (import.meta.main) {
  const script = process.argv[2] === 'pack' ? 'pack' : 'build'
  requireDevelopmentPackages(script, 'typescript')
  try {
    if (script === 'pack') console.log(packPackage())
    else buildPackage()
  } catch (cause) {
    console.error(`npm run ${script}: ${(cause as Error).message}`)
    process.exitCode = 1
  }
}
