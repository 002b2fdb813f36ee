import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Recipe, RecipeEnvironment } from './recipes.ts'

/** The folders of modules from Debian packages. */
const MODULES = { nginx: '/usr/lib/nginx/modules', apache: '/usr/lib/apache2/modules' } as const
const run = promisify(execFile)

/** Copies a folder of examples/resource-servers, then installs its dependencies and builds it, once. */
export async function prepareFolder(
  { folder: name, prepare }: Pick<Recipe, 'folder' | 'prepare'>,
  root: string,
): Promise<string> {
  const folder = join(root, name)
  const isPrepared = existsSync(folder)
  cpSync(join('examples', 'resource-servers', name), folder, { recursive: true })
  if (!isPrepared) await prepare(folder)
  return folder
}

/** Runs a program until it ends. @throws Error if it is not installed, or with its output if it fails */
export async function runProgram(
  command: string,
  rest: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  try {
    await run(command, rest, { cwd: folder, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...environment } })
  } catch (cause) {
    const { code, stdout = '', stderr = '' } = cause as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 'ENOENT') throw new Error(`This proof needs ${command}, which is not installed.`, { cause })
    throw new Error(`${command} ${rest.join(' ')} failed:\n${`${stdout}${stderr}`.slice(-2000)}`, { cause })
  }
}

/** @throws Error if a file of a Debian package is missing */
export function requireModule(server: keyof typeof MODULES, file: string, debianPackage: string): void {
  if (existsSync(join(MODULES[server], file))) return
  throw new Error(`This proof needs ${join(MODULES[server], file)}, of the Debian package ${debianPackage}.`)
}

/** Creates a virtual environment with the packages of requirements.txt. */
export async function preparePython(folder: string): Promise<void> {
  await runProgram('python3', ['-m', 'venv', 'venv'], folder)
  await runProgram(pythonOf(folder), ['-m', 'pip', 'install', '-q', '-r', 'requirements.txt'], folder)
}

export function pythonOf(folder: string): string {
  return join(folder, 'venv', 'bin', 'python')
}

export async function pythonVersion(folder: string, name: string): Promise<string> {
  const code = `import importlib.metadata as m; print("${name}", m.version("${name}"))`
  return (await run(pythonOf(folder), ['-c', code])).stdout.trim()
}

/** The first group of a pattern's match in a file. */
export function versionIn(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 'unknown'
}

export async function debianVersion(name: string): Promise<string> {
  return (await run('dpkg-query', ['-W', '-f', '${Version}', name])).stdout
}

/** Replaces the example's addresses, ports and credentials with those of this run. */
export function fillIn(
  file: string,
  { ISSUER, RESOURCE, MCP_PORT, API_ID, API_SECRET, UPSTREAM }: RecipeEnvironment,
): void {
  const text = readFileSync(file, 'utf8')
    .replaceAll('https://auth.example.com', ISSUER)
    .replaceAll('https://api.example.com/orders', RESOURCE)
    .replaceAll('http://127.0.0.1:9090', UPSTREAM)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${MCP_PORT}`)
    .replaceAll('API_ID', API_ID)
    .replaceAll('API_SECRET', API_SECRET)
    .replaceAll('CREDENTIALS', btoa(`${API_ID}:${API_SECRET}`))
    .replaceAll('modules/ngx', `${MODULES.nginx}/ngx`)
  writeFileSync(file, text)
}

/** The configuration of Debian's packages that surrounds that of the recipe. */
export function writeApacheConfiguration(folder: string, { MCP_PORT }: Pick<RecipeEnvironment, 'MCP_PORT'>): void {
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'proxy', 'proxy_http', 'rewrite', 'oauth2']
  const lines = [
    ...modules.map((name) => `LoadModule ${name}_module ${MODULES.apache}/mod_${name}.so`),
    `ServerRoot ${folder}`,
    'ServerName localhost',
    `Listen 127.0.0.1:${MCP_PORT}`,
    'PidFile httpd.pid',
    'ErrorLog error.log',
    'LogLevel warn',
    'Include orders.conf',
  ]
  writeFileSync(join(folder, 'httpd.conf'), `${lines.join('\n')}\n`)
}
