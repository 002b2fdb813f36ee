import { cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { walkWithClient } from '../../tools/client-walk.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { startProgram } from '../../tools/process/program.ts'
import { walkWithPasskey } from '../../tools/sign-in/passkeys.ts'
import { addUser } from '../../tools/runtime.ts'
import { SETTLE_MS } from '../artefact.ts'
import { openProject } from './runtimes.ts'
import { runTool } from './tool.ts'

/** What the examples import besides the package. */
const HOSTS = ['express@5', 'fastify@5', 'hono@4', '@hono/node-server@2']
const EXAMPLES = ['node-http', 'express', 'fastify', 'hono'] as const
const PNPM = 'pnpm@10'

/**
 * Installs the packed file into an empty project, as its user does, and walks with a released client and a passkey through the server
 * and through each example.
 *
 * @throws Error at the first step that fails
 */
export async function proveInstallation(manager: 'npm' | 'pnpm', runtime: string, packed: string): Promise<string> {
  const folder = openProject()
  const run = (...words: readonly string[]): string =>
    manager === 'npm'
      ? runTool('npm', words, folder, runtime)
      : runTool('npx', ['--yes', PNPM, ...words], folder, runtime)
  run(manager === 'npm' ? 'install' : 'add', packed)
  refuseScripts(folder)
  const version = run('exec', ...(manager === 'npm' ? ['--', 'grantor', '--version'] : ['grantor', '--version']))
  run(manager === 'npm' ? 'install' : 'add', ...HOSTS)
  const node = join(runtime, 'node')
  const server = [node, join(folder, 'node_modules/grantor/bin/grantor.js'), 'serve']
  const walked = [`server ${await walkThrough(folder, server, { path: '', settleMs: SETTLE_MS })}`]
  for (const name of EXAMPLES) {
    cpSync(`examples/library/${name}.js`, join(folder, `${name}.js`))
    walked.push(`${name} ${await walkThrough(folder, [node, `${name}.js`], { path: '/auth', settleMs: SETTLE_MS })}`)
  }
  return `version ${version}; walked through: ${walked.join(', ')}`
}

/** @throws Error when a package of the installation runs a script */
function refuseScripts(folder: string): void {
  const files = globSync('node_modules/{.pnpm/*/node_modules/,}{*,@*/*}/package.json', { cwd: folder })
  if (files.length < 10) throw new Error('Too few packages were found.')
  const running = files.filter((file) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { scripts?: object }
    return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts)
  })
  if (running.length > 0) throw new Error(`These packages run a script: ${running.join(', ')}`)
}

/**
 * Walks with a released client and a passkey through a program that serves Grantor below a path. Returns how long the program took until
 * it answered, and its memory when it was idle.
 */
export async function walkThrough(
  folder: string,
  command: readonly string[],
  { path, settleMs }: { readonly path: string; readonly settleMs: number },
): Promise<string> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const origin = `http://localhost:${port}`
  const issuer = origin + path
  const environment = {
    PORT: String(port),
    GRANTOR_ADMIN_PORT: String(adminPort),
    DATABASE_URL: `sqlite:${join(folder, String(port), 'grantor.db')}`,
    GRANTOR_ISSUER: issuer,
  }
  await addUser(environment)
  const startedAt = performance.now()
  const program = await startProgram({ command, folder, environment, address: origin })
  const startedMs = Math.round(performance.now() - startedAt)
  await delay(settleMs)
  const idleMegabytes = Math.round((readTreeUsage(program.pid)?.residentBytes ?? 0) / 1e6)
  try {
    await walkWithClient(issuer)
    await walkWithPasskey(issuer)
  } catch (cause) {
    throw new Error(`${command.join(' ')}: ${(cause as Error).message}\n${program.output()}`, { cause })
  } finally {
    await program.stop()
  }
  return `${startedMs} ms, ${idleMegabytes} MB`
}
