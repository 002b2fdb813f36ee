// Starts Grantor for an example: on free ports, with a database that is removed at the end, and with a user who can sign in.
import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const PROGRAM = join(import.meta.dirname, '..', 'bin', 'grantor.js')
const ends = []

/** Ctrl-C ends what was started, the last one first. */
export function atEnd(end) {
  if (ends.length === 0) for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void endAll(0))
  ends.unshift(end)
}

async function endAll(code) {
  for (const end of ends.splice(0)) await end()
  process.exit(code)
}

/** A port on which no program listens, below those that systems give to outgoing connections. */
export async function freePort() {
  for (;;) {
    const port = randomInt(30_000, 32_700)
    const probe = createServer()
    const isFree = await new Promise((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(port, 'localhost', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** Starts an HTTP server or an Express application, which ends with the example. */
export async function listen(server, port) {
  const listening = server.listen(port, 'localhost')
  await once(listening, 'listening')
  atEnd(() => {
    listening.closeAllConnections()
    listening.close()
  })
}

/** Starts a program, which ends with the example, and waits until its address answers. What it prints to standard output is not shown. */
export async function startProgram({ command: [program, ...words], folder, environment, address }) {
  const env = { ...process.env, ...environment }
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  let hasEnded = false
  const ended = once(child, 'exit').then(() => (hasEnded = true))
  process.once('exit', () => child.kill('SIGKILL'))
  atEnd(async () => {
    child.kill('SIGTERM')
    await ended
  })
  while (!(await fetch(address).catch(() => undefined))?.ok) {
    if (hasEnded) throw new Error(`${program} ended.`)
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
}

/** Starts Grantor. `file`: what "grantor apply" makes. Returns the issuer, the user, and `task`, which asks the administration. */
export async function startGrantor(file) {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-example-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const [port, adminPort] = [await freePort(), await freePort()]
  const issuer = `http://localhost:${port}`
  const options = {
    cwd: folder,
    env: {
      ...process.env,
      PORT: String(port),
      GRANTOR_ISSUER: issuer,
      GRANTOR_ADMIN_PORT: String(adminPort),
      DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
      LOG_LEVEL: 'warn',
    },
  }
  const grantor = async (...words) => (await promisify(execFile)(process.execPath, [PROGRAM, ...words], options)).stdout
  if (file !== undefined) await grantor('apply', '-f', file, '--yes')
  const { token } = JSON.parse(await grantor('admin', 'create', '--name', 'Example', '--access', 'write', '--json'))

  await startProgram({
    command: [process.execPath, PROGRAM, 'serve', '--json'],
    folder,
    environment: options.env,
    address: `${issuer}/health/ready`,
  })

  async function task(method, path, body = {}) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`http://localhost:${adminPort}/admin/v1/${path}`, {
      method,
      headers,
      body: method === 'GET' ? undefined : JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const user = { email: 'ada@example.com', name: 'Ada', password: randomBytes(12).toString('base64url') }
  const { user_id: userId } = await task('POST', 'users', { ...user, email_verified: true })
  return { issuer, task, user: { ...user, userId } }
}
