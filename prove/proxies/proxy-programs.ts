import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The recipes in deploy/, run as they are but for addresses, names and files. */

export const PROXIES = ['haproxy', 'caddy', 'nginx'] as const
/** A proxy of clients, or the nginx that forwards the metrics of one node. */
export type ProxyName = (typeof PROXIES)[number] | 'metrics'

/** Where the proxy listens and connects to, and its certificate. */
export interface ProxyPlace {
  readonly folder: string
  readonly port: number
  /** Of the two nodes, or of the administration of one. */
  readonly nodePorts: readonly number[]
  /** PEM: the certificate, then the key. */
  readonly certificate: string
  readonly key: string
}

export interface RunningProxy {
  readonly version: string
  readonly hasHttp2: boolean
  /** Does what docs/operations/proxies.md says before a node is stopped, and after it is ready again. */
  readonly takeOut: (nodePort: number) => Promise<void>
  readonly putBack: (nodePort: number) => Promise<void>
  readonly stop: () => Promise<void>
}

interface ProxyProgram {
  readonly recipe: string
  readonly program: string
  /** How the version is printed, on either output. */
  readonly version: readonly string[]
  /** What is replaced in the recipe. Each text must be in it. */
  readonly replacements: (place: ProxyPlace, files: Files) => Readonly<Record<string, string>>
  /** The files besides the recipe, and the arguments. */
  readonly prepare: (place: ProxyPlace, recipe: string) => readonly string[]
  /** Whether the operator takes a node out before it stops. */
  readonly isTakenOut: boolean
  /** Whether the recipe offers HTTP/2. */
  readonly hasHttp2: boolean
}

interface Files {
  readonly certificate: string
  readonly key: string
  readonly both: string
}

/** The manual says: wait two seconds after a reload. */
const RELOAD_MS = 2000
const START_LIMIT_MS = 10_000

const PROGRAMS: Readonly<Record<ProxyName, ProxyProgram>> = {
  haproxy: {
    recipe: 'deploy/haproxy/haproxy.cfg',
    program: 'haproxy',
    version: ['-v'],
    replacements: ({ port, nodePorts }, { both }) => ({
      ...nodesAt(nodePorts),
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/ssl/auth.example.com.pem': both,
      '/etc/haproxy/': `${process.cwd()}/deploy/haproxy/`,
    }),
    prepare: (_place, recipe) => ['-db', '-f', recipe],
    isTakenOut: false,
    hasHttp2: true,
  },
  caddy: {
    recipe: 'deploy/caddy/Caddyfile',
    program: 'caddy',
    version: ['version'],
    // Caddy would request a certificate for the name.
    replacements: ({ port, nodePorts }, { certificate, key }) => ({
      ...nodesAt(nodePorts),
      'auth.example.com {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
    }),
    prepare(_place, recipe) {
      writeFileSync(recipe, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${readFileSync(recipe, 'utf8')}`)
      return ['run', '--adapter', 'caddyfile', '--config', recipe]
    },
    isTakenOut: false,
    hasHttp2: true,
  },
  nginx: {
    recipe: 'deploy/nginx/grantor.conf',
    program: 'nginx',
    version: ['-v'],
    replacements: ({ port, nodePorts }, { certificate, key }) => ({
      ...nodesAt(nodePorts),
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      '/etc/ssl/auth.example.com.pem': certificate,
      '/etc/ssl/auth.example.com.key': key,
      'server_name auth.example.com': 'server_name localhost',
    }),
    prepare: prepareNginx,
    isTakenOut: true,
    hasHttp2: false,
  },
  metrics: {
    recipe: 'deploy/nginx/grantor-metrics.conf',
    program: 'nginx',
    version: ['-v'],
    replacements: ({ port, nodePorts: [admin = 0] }, { certificate, key }) => ({
      'listen 10.0.0.11:3443 ssl': `listen 127.0.0.1:${port} ssl`,
      '/etc/ssl/grantor-node.pem': certificate,
      '/etc/ssl/grantor-node.key': key,
      'http://127.0.0.1:3001': `http://127.0.0.1:${admin}`,
    }),
    prepare: prepareNginx,
    isTakenOut: false,
    hasHttp2: false,
  },
}

function nodesAt([first = 0, second = 0]: readonly number[]): Readonly<Record<string, string>> {
  return { '10.0.0.11:3000': `127.0.0.1:${first}`, '10.0.0.12:3000': `127.0.0.1:${second}` }
}

/** The main file of nginx, which includes the recipe. */
function prepareNginx({ folder }: ProxyPlace, recipe: string): readonly string[] {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  const main = join(folder, 'nginx.conf')
  const http = `http { access_log off; ${temporary.join(' ')} include ${recipe}; }`
  writeFileSync(main, `daemon off; pid ${join(folder, 'nginx.pid')}; events {} ${http}`)
  return ['-p', folder, '-e', join(folder, 'nginx.log'), '-c', main]
}

/** Starts a proxy with its recipe. @throws Error when it is not installed, or the recipe does not fit */
export async function startProxy(name: ProxyName, place: ProxyPlace): Promise<RunningProxy> {
  const { recipe, program, replacements, prepare, isTakenOut, hasHttp2 } = PROGRAMS[name]
  const version = versionOf(program, PROGRAMS[name].version)
  const { folder, port } = place
  const files = writeCertificate(place)
  const path = join(folder, recipe.split('/').at(-1) ?? '')
  writeFileSync(path, replaceAll(readFileSync(recipe, 'utf8'), replacements(place, files)))
  const { child, stop } = await startProgram(program, prepare(place, path), port)

  async function mark(nodePort: number, from: string, to: string): Promise<void> {
    if (!isTakenOut) return
    const server = `server 127.0.0.1:${nodePort} `
    writeFileSync(path, replaceAll(readFileSync(path, 'utf8'), { [server + from]: server + to }))
    child.kill('SIGHUP')
    await delay(RELOAD_MS)
  }

  return {
    version,
    hasHttp2,
    takeOut: (nodePort) => mark(nodePort, '', 'down '),
    putBack: (nodePort) => mark(nodePort, 'down ', ''),
    stop,
  }
}

/** The first line that a program prints about its version. @throws Error when it is not installed */
export function versionOf(program: string, words: readonly string[]): string {
  const printed = spawnSync(program, words, { encoding: 'utf8' })
  if (printed.error !== undefined) throw new Error(`${program} is not installed. It is needed for prove proxies.`)
  return `${printed.stdout}${printed.stderr}`.split('\n')[0] ?? ''
}

/** Starts a program, and waits until it listens. It ends with this process. @throws Error with its output */
export async function startProgram(
  program: string,
  words: readonly string[],
  port: number,
): Promise<{ readonly child: ChildProcess; readonly stop: () => Promise<void> }> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  await untilListening(program, child, port)
  return {
    child,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      process.off('exit', end)
    },
  }
}

function writeCertificate({ folder, certificate, key }: ProxyPlace): Files {
  const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), both: join(folder, 'both.pem') }
  writeFileSync(files.certificate, certificate)
  writeFileSync(files.key, key, { mode: 0o600 })
  writeFileSync(files.both, `${certificate}\n${key}`, { mode: 0o600 })
  return files
}

export function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  let replaced = text
  for (const [from, to] of Object.entries(replacements)) {
    if (!replaced.includes(from)) throw new Error(`The recipe has no "${from}".`)
    replaced = replaced.replaceAll(from, to)
  }
  return replaced
}

async function untilListening(name: string, child: ChildProcess, port: number): Promise<void> {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-4000)))
  const deadline = performance.now() + START_LIMIT_MS
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${name} did not start:\n${output}`)
    await delay(50)
  }
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy()) as Promise<boolean>
}
