import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { TEXTS } from '../src/texts/generated.ts'
import { EMAIL, obtainTokens, PASSWORD, postForm, refresh, registerClient } from '../tools/flow.ts'
import { freePorts } from '../tools/process/free-ports.ts'
import { readTreeUsage } from '../tools/process/usage.ts'
import { openRemoteServer } from '../tools/remote-server.ts'
import { hasStatus, send } from '../tools/send.ts'
import { walkWithPasskey } from '../tools/sign-in/passkeys.ts'
import type { Findings } from './findings.ts'

/** Grantor in one of the forms in which it is delivered. */
export interface Artefact {
  /** Starts the program with these words of a command line, and with these settings besides its own. */
  readonly start: (words: readonly string[], settings: Readonly<Record<string, string>>) => ChildProcess
  /** How long the memory settles after the start before it is read: `SETTLE_MS`, or 0 where it is not of interest. */
  readonly settleMs: number
}

export interface Measured {
  readonly startMs: number
  readonly idleMegabytes: number
  readonly stopMs: number
}

const START_LIMIT_MS = 60_000
const POLL_MS = 10
export const SETTLE_MS = 3000
/** A server drains for two seconds and has five more for its connections. */
const STOP_LIMIT_MS = 7000
const ANSWER_LIMIT_MS = 10_000

/**
 * Starts the server, asks for its health, creates a user by the command line, walks from the registration to a refreshed token over
 * HTTP, reads a German page, signs in with a passkey, and stops the server.
 */
export async function walkArtefact({ start, settleMs }: Artefact, findings: Findings): Promise<Measured> {
  const [port = 0] = await freePorts(1)
  const settings = { PORT: String(port), GRANTOR_ADMIN_PORT: 'off' }
  const run = async (...words: readonly string[]): Promise<void> => {
    const { code, said } = await finish(start(words, settings))
    if (code !== 0) findings.report(`${words.slice(0, 2).join(' ')} ended with ${code}: ${said}`)
  }
  await run('--version')
  const startedAt = performance.now()
  const server = start(['serve', '--json'], settings)
  const ended = finish(server)
  while (!hasStatus(await send({ port, path: '/health/ready', limitMs: ANSWER_LIMIT_MS }), 200)) {
    if (server.exitCode !== null || performance.now() - startedAt > START_LIMIT_MS)
      throw new Error(`The server did not start: ${(await ended).said}`)
    await delay(POLL_MS)
  }
  const startMs = performance.now() - startedAt
  await delay(settleMs)
  const idleMegabytes = (readTreeUsage(server.pid ?? 0)?.residentBytes ?? 0) / 1e6
  try {
    await run('health')
    await run('migrate', 'status')
    await run('user', 'create', '--email', EMAIL, '--password', PASSWORD)
    await walk(port)
    await walkWithPasskey(`http://localhost:${port}`)
  } catch (cause) {
    findings.report(String(cause))
  }
  const stoppedAt = performance.now()
  server.kill('SIGTERM')
  const { code, said } = await ended
  const stopMs = performance.now() - stoppedAt
  if (code !== 0) findings.report(`The server ended with ${code}: ${said}`)
  if (stopMs > STOP_LIMIT_MS) findings.report(`The server took ${stopMs.toFixed(0)} ms to stop.`)
  return { startMs, idleMegabytes, stopMs }
}

/** @throws Error if a step has another answer than it should */
async function walk(port: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const server = openRemoteServer({ port, agent, limitMs: ANSWER_LIMIT_MS, host: `localhost:${port}` })
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  const renewed = await refresh(server, client, tokens.refresh_token ?? '')
  if (renewed.statusCode !== 200) throw new Error(`The refresh was answered ${renewed.body}`)
  const { access_token: token } = renewed.json<{ readonly access_token: string }>()
  const { client_id, client_secret = '' } = client
  const answer = await postForm(server, '/v2/oauth/introspect', { token, client_id, client_secret })
  if (!answer.json<{ readonly active: boolean }>().active) throw new Error(`The token is not active: ${answer.body}`)
  const german = { accept: 'text/html', 'accept-language': 'de' }
  const page = await server.inject({ url: '/nothing', headers: german })
  if (!page.body.includes(TEXTS.de['errors.not-found.heading'] ?? ''))
    throw new Error(`The German page is: ${page.body}`)
  agent.destroy()
}

/** Waits for the end. Returns the exit code, and the end of what the process printed. */
async function finish(child: ChildProcess): Promise<{ readonly code: number | null; readonly said: string }> {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-4000)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}
