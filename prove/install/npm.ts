import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Findings } from '../findings.ts'

/** Installs a clean clone with one major version of npm, in each way of the manual, and starts the server. */

export const NPM_MAJORS = ['10', '11', '12'] as const

export interface NpmResult {
  readonly version: string
  /** What each installation did, a line each. */
  readonly lines: readonly string[]
}

/** As the README and docs/operations/install.md have them. The next one removes what the previous one has installed. */
const WAYS: readonly (readonly string[])[] = [[], ['--omit=dev'], ['--omit=dev', '--ignore-scripts']]
/** What the manual runs after an installation without scripts. */
const AFTER_INSTALL = 'bin/after-install.js'
/** The Node.js of the systemd unit. */
const NODE = 'node_modules/.bin/node'

export async function proveNpm(major: string, findings: Findings): Promise<NpmResult> {
  const place = openFolder()
  const folder = join(place, 'clone')
  const run = (program: string, words: readonly string[], cwd: string): string =>
    execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const npm = (...words: readonly string[]): string => run('npx', ['--yes', `npm@${major}`, ...words], folder)
  run('git', ['clone', '--quiet', '.', folder], process.cwd())
  const lines: string[] = []
  for (const way of WAYS) {
    const words = ['ci', ...way]
    const startedAt = performance.now()
    try {
      npm(...words)
      if (way.includes('--ignore-scripts')) run('node', [AFTER_INSTALL], folder)
      const installedMs = performance.now() - startedAt
      const node = join(folder, NODE)
      if (!existsSync(node)) throw new Error(`${NODE} does not exist.`)
      const readyMs = await startServer(place, folder, node)
      const changed = run('git', ['status', '--porcelain'], folder)
      if (changed !== '') throw new Error(`The installation changed files:\n${changed}`)
      const seconds = (installedMs / 1000).toFixed(1)
      lines.push(`npm ${words.join(' ')}: ${seconds} s, ${run(node, ['--version'], folder)}, ready after ${readyMs} ms`)
    } catch (cause) {
      findings.report(`npm@${major} ${words.join(' ')}: ${(cause as Error).message}`)
      lines.push(`npm ${words.join(' ')}: failed`)
    }
    findings.progress(`npm@${major} ${words.join(' ')}`)
  }
  return { version: npm('--version'), lines }
}

/** Returns the milliseconds until /health/ready is 200. */
async function startServer(place: string, checkout: string, runtime: string): Promise<number> {
  const [port = 0] = await freePorts(1)
  const server = openServerProcess({
    port,
    folder: place,
    checkout: pathToFileURL(`${checkout}/`),
    script: 'bin/grantor.js',
    runtime,
    settings: { DATABASE_URL: `sqlite:${join(place, String(port), 'grantor.db')}` },
  })
  const startedAt = performance.now()
  await server.start()
  const readyMs = Math.round(performance.now() - startedAt)
  await server.stop()
  return readyMs
}
