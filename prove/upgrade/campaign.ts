import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { postJson, REDIRECT_URI, registerClient } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { openRemoteServer, type RemoteServer } from '../../tools/remote-server.ts'
import { faultsOfHeld, obtainHeld, USER, type Held } from './held.ts'
import { installNext, placeOf, runCommand, type Files } from './releases.ts'

const ANSWER_LIMIT_MS = 10_000
/** Several batches of the backfill. */
const ROWS = 50

export interface Upgrade {
  readonly folder: string
  /** The folder of the packed release. */
  readonly release: string
  readonly change: (start: string) => Files
  readonly database: string
  /** Servers of both releases may use a PostgreSQL at the same time, and an SQLite file one after the other. */
  readonly sideBySide: boolean
}

export interface Upgraded {
  /** What stopped working. */
  readonly faults: readonly string[]
  /** Registrations that were acknowledged, or answered 503, while the schema changed. */
  readonly acknowledged: number
  readonly unavailable: number
}

/**
 * From a release to the next one and back: migrates under load, runs both, goes back to the old release, and forward again. After each step
 * the credentials of both releases must work at each server that runs.
 */
export async function upgrade({ folder, release, change, database, sideBySide }: Upgrade): Promise<Upgraded> {
  mkdirSync(folder, { recursive: true })
  const next = installNext(join(folder, 'next'), release, change)
  const [port = 0, other = 0] = await freePorts(2)
  const settings = {
    DATABASE_URL: database,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_ISSUER: `http://127.0.0.1:${port}`,
    GRANTOR_DRAIN_SECONDS: '0',
    GRANTOR_REGISTRATION_RATE: '100000',
  }
  const server = (at: number, of: string): ServerProcess =>
    openServerProcess({ port: at, folder, settings, ...placeOf(of) })
  const agent = new Agent({ keepAlive: false })
  const target = (at: number): RemoteServer =>
    Object.assign(openRemoteServer({ port, agent, limitMs: ANSWER_LIMIT_MS }), { port: at })
  const [old, oldTarget] = [server(port, release), target(port)]
  const newer = server(sideBySide ? other : port, next)
  const newerTarget = target(newer.port)
  const faults: string[] = []
  const held: Held[] = []
  const check = async (step: string, ...targets: readonly RemoteServer[]): Promise<void> => {
    for (const one of targets)
      for (const credentials of held)
        for (const fault of await faultsOfHeld(one, credentials)) faults.push(`${step}: ${fault}`)
  }

  await old.start()
  try {
    await runCommand(release, old.settings, ...USER)
    held.push(await obtainHeld(oldTarget))
    for (let row = 0; row < ROWS; row += 1) await registerClient(oldTarget)
    const load = openLoad(oldTarget)
    try {
      await runCommand(next, old.settings, 'migrate')
    } finally {
      faults.push(...(await load.end()).map((fault) => `beside the migration: ${fault}`))
    }
    await check('the old release on the new schema', oldTarget)
    held.push(await obtainHeld(oldTarget))

    if (!sideBySide) await old.stop()
    await newer.start()
    held.push(await obtainHeld(newerTarget))
    await check('both releases', newerTarget, ...(sideBySide ? [oldTarget] : []))

    await newer.stop()
    if (!sideBySide) await old.start()
    await check('back', oldTarget)
    await old.stop()
    await newer.start()
    await check('forward again', newerTarget)
    await runCommand(next, newer.settings, 'audit', 'verify')
    await newer.stop()
    return { faults, ...load.counts }
  } catch (cause) {
    const { message, stderr } = cause as Error & { readonly stderr?: string }
    return { faults: [...faults, stderr?.trim().split('\n')[0] ?? message], acknowledged: 0, unavailable: 0 }
  } finally {
    for (const one of [old, newer]) one.kill()
    agent.destroy()
  }
}

/** Registers clients one after the other until it is ended. While the schema is locked, 503 is right: the client asks again. */
function openLoad(server: RemoteServer) {
  const load = { isEnding: false }
  const counts = { acknowledged: 0, unavailable: 0 }
  const faults: string[] = []
  const work = async (): Promise<void> => {
    while (!load.isEnding) {
      const { statusCode, body } = await postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] })
      if (statusCode === 201) counts.acknowledged += 1
      else if (statusCode === 503) counts.unavailable += 1
      else faults.push(`${statusCode} ${body}`)
    }
  }
  const working = work()
  return {
    counts,
    async end(): Promise<readonly string[]> {
      load.isEnding = true
      await working
      return faults
    },
  }
}
