import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../tools/process/free-ports.ts'
import { replay } from '../../tools/replay.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Findings } from '../findings.ts'
import { issueCertificate } from '../proxies/campaign.ts'
import { replaceAll } from '../proxies/proxy-programs.ts'

/** Follows docs/operations/install.md, and then the nightly backup of backup.md, as root of namespaces of its own. */

const LIMIT_MS = 900_000
/** The ports of the page. */
const PORTS = [3000, 3001] as const
const SYSTEMCTL = fileURLToPath(new URL('./systemctl.ts', import.meta.url))
const SANDBOX_SCRIPT = fileURLToPath(new URL('./sandbox.sh', import.meta.url))
const RELEASE = 'v0.2.0'
/** Where commands of the sandbox find the authority of the proxy's certificate, besides those that are configured already. */
const AUTHORITY = '/etc/ssl/proxy.pem'

export async function provePage(findings: Findings): Promise<readonly string[]> {
  const folder = openFolder()
  const repository = join(folder, 'repository.git')
  await refuseTakenPorts()
  const run = (program: string, ...words: readonly string[]): void =>
    void execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  run('git', 'clone', '--quiet', '--bare', '.', repository)
  run('git', '-C', repository, 'tag', RELEASE)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'systemctl'), `#!/bin/sh\nexec '${process.execPath}' '${SYSTEMCTL}' "$@"\n`, {
    mode: 0o755,
  })
  const [port = 0] = await freePorts(1)
  const proxy = await openTlsProxy(folder, port)
  const replaced = {
    'https://git.example.com/grantor.git': `file://${repository}`,
    'https://auth.example.com': `https://localhost:${port}`,
  }
  const { PATH = '', HOME = '/' } = process.env
  try {
    const faults = await replay({
      page: replaceAll(pages(), replaced),
      folder,
      environment: { PATH, HOME, SANDBOX: folder, NODE_EXTRA_CA_CERTS: AUTHORITY },
      limitMs: LIMIT_MS,
      shell: [...namespaces(), 'sh', SANDBOX_SCRIPT],
      mayPrint: true,
    })
    for (const fault of faults) findings.report(fault)
  } finally {
    proxy.close()
    proxy.closeAllConnections()
  }
  const log = join(folder, 'systemctl.calls')
  const calls = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  return [
    `docs/operations/install.md and backup.md, as ${process.getuid?.() === 0 ? 'root' : 'an unprivileged user'}`,
    ...Object.entries(replaced).map(([from, to]) => `  replaced: ${from} by ${to}`),
    ...calls.map((call) => `  by the stand-in for systemd: ${call}`),
  ]
}

/** A user who is not root becomes root of a user namespace, with the users that /etc/subuid grants (newuidmap(1)). */
function namespaces(): readonly string[] {
  const own = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  return process.getuid?.() === 0 ? own : [...own, '--user', '--map-root-user', '--map-auto']
}

function pages(): string {
  const backup = readFileSync('docs/operations/backup.md', 'utf8')
  const [, everyNight] = /^## Every night\n([^]*?)^## /m.exec(backup) ?? []
  if (everyNight === undefined) throw new Error('docs/operations/backup.md has no section "Every night".')
  // The block of cron is a table, and no output.
  return `${readFileSync('docs/operations/install.md', 'utf8')}\n${everyNight.replace(/^With cron[^]*/m, '')}`
}

/** The proxy of section 4: TLS in front of the server of the page. */
async function openTlsProxy(folder: string, port: number): Promise<Server> {
  const { certificate: cert, key } = await issueCertificate()
  const { NODE_EXTRA_CA_CERTS: others } = process.env
  writeFileSync(join(folder, 'ca.pem'), `${cert}\n${others === undefined ? '' : readFileSync(others, 'utf8')}`)
  const proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const { method, url, headers, socket } = incoming
    const forwarded = { ...headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': socket.remoteAddress ?? '' }
    const sent = request({ port: PORTS[0], host: '127.0.0.1', method, path: url, headers: forwarded }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    incoming.pipe(sent)
  })
  proxy.listen(port, 'localhost')
  await once(proxy, 'listening')
  return proxy
}

async function refuseTakenPorts(): Promise<void> {
  for (const port of PORTS) {
    const socket = connect(port, '127.0.0.1')
    const isTaken = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isTaken) throw new Error(`Port ${port}, which the page uses, is in use.`)
  }
}
