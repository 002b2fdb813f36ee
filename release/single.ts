import type { BuildOptions, BuildResult, Plugin } from 'esbuild'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeTexts } from '../src/cli/docs/texts.ts'
import { readCommonPasswords } from '../src/passwords/common-passwords.ts'
import { readMigrationFiles } from '../src/store/migration-files.ts'
import { optionalPackages, VERSION } from '../src/server/version.ts'
import { THREADS } from './bundle.ts'
import { requireDevelopmentPackages } from './development-packages.ts'
import { faultsOfNode } from './node.ts'

/**
 * `npm run build:single` makes one executable file of the sources, their packages and Node.js: `dist/grantor-linux-x64`. With
 * `-- --arch arm64` it fetches Node.js for that processor from npm, in the version of this checkout. With `-- --cache` it also has the code
 * that V8 compiled, and is not reproducible. With `-- --any-node` it takes another Node.js than that of release/node.json.
 * https://nodejs.org/api/single-executable-applications.html
 */

const ARCHITECTURES = ['x64', 'arm64'] as const
const OUTPUT = 'dist'
const MAIN = 'main.mjs'
const CONFIG = 'single.json'
const COMMON = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node26',
  write: false,
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions
/** Packages in the format of CommonJS load the modules of Node.js by `require`. */
const REQUIRE = `import { createRequire as openRequire } from 'node:module'; const require = openRequire(process.execPath);`

/** A process that `cluster` starts gets the path of the program once more, as if it were a script that Node.js runs. */
const ARGUMENTS = `process.argv[1] = process.execPath; if (process.argv[2] === process.execPath) process.argv.splice(2, 1);`

/** How a file may differ from that of a release. */
interface Differing {
  /** A command starts sooner, and no two builds are equal: V8 makes an equal cache only with a fixed seed of its hashes, and then rejects it. */
  readonly hasCache?: boolean | undefined
  /** The Node.js of this process may be another one than that of release/node.json. */
  readonly isAnyNode?: boolean | undefined
}

/** Returns the path of the file. @throws Error if its Node.js is not that of release/node.json */
export async function buildSingle(
  arch: (typeof ARCHITECTURES)[number],
  { hasCache = false, isAnyNode = false }: Differing = {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-single-'))
  try {
    mkdirSync(OUTPUT, { recursive: true })
    const output = join(OUTPUT, `grantor-linux-${arch}`)
    const isOwn = arch === process.arch && process.platform === 'linux'
    const executable = isOwn ? process.execPath : fetchNode(arch, folder)
    const [fault] = isOwn && isAnyNode ? [] : faultsOfNode(executable, `linux-${arch}`)
    if (fault !== undefined) throw new Error(`${fault} With --any-node the file has it all the same.`)
    writeFileSync(join(folder, MAIN), await bundle())
    const config = {
      // The name is in the file, so it is that of no folder.
      main: MAIN,
      mainFormat: 'module',
      output: resolve(output),
      executable,
      disableExperimentalSEAWarning: true,
      // The code that V8 has compiled is of one processor, and differs in each build.
      useCodeCache: hasCache && isOwn,
      // Options of Node.js belong to NODE_OPTIONS, so that no argument of a command is taken for one.
      execArgvExtension: 'none',
    }
    writeFileSync(join(folder, CONFIG), JSON.stringify(config))
    execFileSync(process.execPath, ['--build-sea', CONFIG], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    chmodSync(output, 0o755)
    return output
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the sources and packages as one module. @throws Error if a module reads what is beside it */
export async function bundle(): Promise<string> {
  writeTexts()
  const { build } = await import('esbuild')
  const inlined: Readonly<Record<string, string>> = {
    'passwords/common-passwords.ts': `export const readCommonPasswords = () => ${JSON.stringify(readCommonPasswords())}`,
    'store/migration-files.ts': `export const readMigrationFiles = () => ${JSON.stringify(readMigrationFiles())}`,
    ...Object.fromEntries(
      await Promise.all(THREADS.map(([source, module, name]) => inlineThread(`src/${source}`, module, name))),
    ),
    // It has one file, whose lines name no source.
    'files/stack.ts': 'export const nameSources = (stack) => stack',
    'server/version.ts': `export const VERSION = ${JSON.stringify(VERSION)}; export const optionalPackages = () => ${JSON.stringify(optionalPackages())}`,
  }
  const result = await build({
    ...COMMON,
    entryPoints: ['src/cli/main.ts'],
    define: { 'import.meta.main': 'true' },
    banner: { js: REQUIRE + ARGUMENTS },
    // pg loads it if it is installed. It is not.
    external: ['pg-native'],
    plugins: [replacing(inlined)],
  })
  const text = textOf(result)
  if (text.includes('import.meta'))
    throw new Error('A module of the file needs what is beside it. Replace it in release/single.ts.')
  return text
}

/** The module that has the address of a thread, with the source of the thread and its packages in the address. */
async function inlineThread(source: string, module: string, name: string): Promise<readonly [string, string]> {
  const { build } = await import('esbuild')
  const text = textOf(await build({ ...COMMON, minify: true, entryPoints: [source] }))
  const address = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
  return [module, `export const ${name} = new URL(${JSON.stringify(address)})`]
}

/** Replaces modules that read files beside them. */
function replacing(modules: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'replace',
    setup(bundler) {
      for (const [path, contents] of Object.entries(modules))
        bundler.onLoad({ filter: new RegExp(`/src/(.*/)?${path.replaceAll('.', '\\.')}$`) }, () => ({
          contents,
          loader: 'js',
        }))
    },
  }
}

function textOf({ outputFiles = [] }: BuildResult): string {
  const [file] = outputFiles
  if (file === undefined) throw new Error('The bundler has written nothing.')
  return file.text
}

function fetchNode(arch: string, folder: string): string {
  const name = `node-linux-${arch}`
  const version = process.versions.node
  execFileSync('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder], { stdio: 'ignore' })
  const packed = readdirSync(folder).find((file) => file.startsWith(name))
  if (packed === undefined) throw new Error(`npm has no ${name}@${version}.`)
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder])
  return join(folder, 'package', 'bin', 'node')
}

if (import.meta.main) {
  requireDevelopmentPackages('build:single', 'esbuild')
  try {
    const { values } = parseArgs({
      options: {
        arch: { type: 'string', default: process.arch },
        cache: { type: 'boolean' },
        'any-node': { type: 'boolean' },
      },
    })
    const arch = ARCHITECTURES.find((one) => one === values.arch)
    if (arch === undefined) throw new Error(`--arch is one of: ${ARCHITECTURES.join(', ')}`)
    console.log(await buildSingle(arch, { hasCache: values.cache, isAnyNode: values['any-node'] }))
  } catch (cause) {
    console.error(`npm run build:single: ${(cause as Error).message}`)
    process.exitCode = 1
  }
}
