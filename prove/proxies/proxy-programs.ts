import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The recipes in deploy/, run as they are but for addresses, names and files. */

export const PROXIES = ['haproxy', 'caddy', 'nginx'] as const
export type ProxyName = (typeof PROXIES)[number]

/** Where the proxy listens and connects to, and its certificate. */
export interface ProxyPlace {
  readonly folder: string
  readonly port: number
  /** Of the two nodes. */
  readonly nodePorts: readonly [number, number]
  /** PEM: the certificate, then the key. */
  readonly certificate: string
  readonly key: string
}

export interface RunningProxy {
  readonly version: string
  /** Does what docs/operations/proxies.md says before a node is stopped, and after it is ready again. */
  readonly takeOut: (nodePort: number) => Promise<void>
  readonly putBack: (nodePort: number) => Promise<void>
  readonly stop: () => Promise<void>
}

interface ProxyProgram {
  readonly recipe: string
  /** How the version is printed, on either output. */
  readonly version: readonly string[]
  /** What is replaced in the recipe. Each text must be in it. */
  readonly replacements: (place: ProxyPlace, files: Files) => Readonly<Record<string, string>>
  /** The files besides the recipe, and the arguments. */
  readonly prepare: (place: ProxyPlace, recipe: string) => readonly string[]
  /** Whether the operator takes a node out before it stops. */
  readonly isTakenOut: boolean
}

interface Files {
  readonly certificate: string
  readonly key: string
  readonly both: string
}

const NODES = ['10.0.0.11:3000', '10.0.0.12:3000'] as const
/** The manual says: wait two seconds after a reload. */
const RELOAD_MS = 2000
const START_LIMIT_MS = 10_000

const PROGRAMS: Readonly<Record<ProxyName, ProxyProgram>> = {
  haproxy: {
    recipe: 'deploy/haproxy/haproxy.cfg',
    version: ['-v'],
    replacements: ({ port }, { both }) => ({
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/ssl/auth.example.com.pem': both,
    }),
    prepare: (_place, recipe) => ['-db', '-f', recipe],
    isTakenOut: false,
  },
  caddy: {
    recipe: 'deploy/caddy/Caddyfile',
    version: ['version'],
    // Caddy would request a certificate for the name.
    replacements: ({ port }, { certificate, key }) => ({
      'auth.example.com {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
    }),
    prepare(_place, recipe) {
      writeFileSync(recipe, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${readFileSync(recipe, 'utf8')}`)
      return ['run', '--adapter', 'caddyfile', '--config', recipe]
    },
    isTakenOut: false,
  },
  nginx: {
    recipe: 'deploy/nginx/grantor.conf',
    version: ['-v'],
    replacements: ({ port }, { certificate, key }) => ({
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      '/etc/ssl/auth.example.com.pem': certificate,
      '/etc/ssl/auth.example.com.key': key,
      'server_name auth.example.com': 'server_name localhost',
    }),
    prepare({ folder }, recipe) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(folder, kind)};`,
      )
      const main = join(folder, 'nginx.conf')
      const http = `http { access_log off; ${temporary.join(' ')} include ${recipe}; }`
      writeFileSync(main, `daemon off; pid ${join(folder, 'nginx.pid')}; events {} ${http}`)
      return ['-p', folder, '-e', join(folder, 'nginx.log'), '-c', main]
    },
    isTakenOut: true,
  },
}

/** Starts a proxy with its recipe. @throws Error when it is not installed, or the recipe does not fit */
export async function startProxy(name: ProxyName, place: ProxyPlace): Promise<RunningProxy> {
  const { recipe, version, replacements, prepare, isTakenOut } = PROGRAMS[name]
  const printed = spawnSync(name, version, { encoding: 'utf8' })
  if (printed.error !== undefined) throw new Error(`${name} is not installed. It is needed for prove:proxies.`)
  const { folder, port, nodePorts } = place
  const files = writeCertificate(place)
  const path = join(folder, recipe.split('/').at(-1) ?? '')
  const addresses = { [NODES[0]]: `127.0.0.1:${nodePorts[0]}`, [NODES[1]]: `127.0.0.1:${nodePorts[1]}` }
  writeFileSync(path, replaceAll(readFileSync(recipe, 'utf8'), { ...replacements(place, files), ...addresses }))
  const child = spawn(name, prepare(place, path), { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  await untilListening(name, child, port)

  async function mark(nodePort: number, from: string, to: string): Promise<void> {
    if (!isTakenOut) return
    const server = `server 127.0.0.1:${nodePort} `
    writeFileSync(path, replaceAll(readFileSync(path, 'utf8'), { [server + from]: server + to }))
    child.kill('SIGHUP')
    await delay(RELOAD_MS)
  }

  return {
    version: `${printed.stdout}${printed.stderr}`.split('\n')[0] ?? '',
    takeOut: (nodePort) => mark(nodePort, '', 'down '),
    putBack: (nodePort) => mark(nodePort, 'down ', ''),
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

function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
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
