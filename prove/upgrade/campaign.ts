import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { EpochMs } from '../../src/base/brand.ts'
import {
  obtainTokens,
  postJson,
  REDIRECT_URI,
  refresh,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import type { RemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { faultsOfHeld, obtainHeld, type Held } from './held.ts'
import { createStore, openNode, settingsOf, type Node } from './node.ts'
import { installNext, runCommand, type Files } from './releases.ts'

/** Several batches of the backfill. */
const ROWS = 50
const PAUSE_MS = 20
/** Of a command that verifies the audit. */
const HEAD_LIMIT = 100

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
  /** Requests of the load that were acknowledged. */
  readonly acknowledged: number
  /** Requests that were answered 503, or at a server that stopped, and were sent again. */
  readonly unavailable: number
}

/**
 * From a release to the next one and back, under load: migrates, runs both, goes back to the old release, and forward again. After each step
 * what clients, users and operators hold of both releases must work at each server that runs.
 */
export async function upgrade({ folder, release, change, database, sideBySide }: Upgrade): Promise<Upgraded> {
  mkdirSync(folder, { recursive: true })
  const next = installNext(join(folder, 'next'), release, change)
  const [port = 0, admin = 0, other = 0, otherAdmin = 0] = await freePorts(4)
  const issuer = `http://localhost:${port}`
  const agent = new Agent({ keepAlive: false })
  const settings = settingsOf(issuer, database)
  const options = { folder, agent, settings, issuer, administrator: await createStore(release, settings) }
  const old = openNode(release, [port, admin], options)
  const newer = openNode(next, sideBySide ? [other, otherAdmin] : [port, admin], options)
  const load = openLoad()
  const start = async (one: Node): Promise<void> => {
    await one.process.start()
    load.serving.push(one.server)
  }
  const stop = async (one: Node): Promise<void> => {
    load.serving.splice(load.serving.indexOf(one.server), 1)
    await one.process.stop()
  }
  const faults: string[] = []
  const held: Held[] = []
  const check = async (step: string, ...nodes: readonly Node[]): Promise<void> => {
    for (const one of nodes)
      for (const credentials of held)
        for (const fault of await faultsOfHeld(one, credentials)) faults.push(`${step}: ${fault}`)
  }

  try {
    await start(old)
    held.push(await obtainHeld(old))
    for (let row = 0; row < ROWS; row += 1) await registerClient(old.server)
    await load.begin(old.server)
    await runCommand(next, settings, 'migrate')
    await check('the old release on the new schema', old)
    held.push(await obtainHeld(old))
    const heads = await headsOf(settings)

    if (!sideBySide) await stop(old)
    await start(newer)
    held.push(await obtainHeld(newer))
    await check('both releases', newer, ...(sideBySide ? [old] : []))

    await stop(newer)
    if (!sideBySide) await start(old)
    await check('back', old)
    await stop(old)
    await start(newer)
    await check('forward again', newer)
    await runCommand(next, settings, 'audit', 'verify', ...heads.flatMap((head) => ['--head', head]))
    faults.push(...(await load.end(newer.server)))
    await stop(newer)
  } catch (cause) {
    const { message, stderr = '' } = cause as Error & { readonly stderr?: string }
    faults.push(...(await load.end(undefined)), stderr.trim().split('\n')[0] || message)
  } finally {
    for (const one of [old, newer]) one.process.kill()
    agent.destroy()
  }
  return { faults, ...load.counts }
}

/** The newest links of the audit, as an auditor notes them: they must always exist. */
async function headsOf(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { context, close } = await openStoreOf(settings)
  const heads = await context.store.listAuditHeads({ since: 0 as EpochMs, limit: HEAD_LIMIT })
  await close()
  return heads.map(({ chainId, sequence }) => `${chainId}:${sequence}`)
}

/**
 * A client that registers clients, reads each back at the next server, and refreshes its tokens, until it is ended. While the schema is
 * locked or a server stops, it asks again.
 */
function openLoad() {
  const load = { isEnding: false, working: Promise.resolve() }
  const serving: RemoteServer[] = []
  const counts = { acknowledged: 0, unavailable: 0 }
  const faults: string[] = []
  const registered: RegisteredClient[] = []

  /** Sends a request to the servers in turn until one of them answers. undefined: the load ends. */
  async function ask(status: number, send: (server: RemoteServer) => ReturnType<RemoteServer['inject']>) {
    for (let turn = counts.acknowledged; !load.isEnding; turn += 1) {
      const server = serving[turn % serving.length]
      const answer = server && (await send(server).catch(() => undefined))
      if (answer?.statusCode === status) {
        counts.acknowledged += 1
        return answer
      }
      if (answer !== undefined && answer.statusCode !== 503) {
        faults.push(`under load: ${answer.statusCode} ${answer.body}`)
        load.isEnding = true
      } else if (server !== undefined && answer === undefined && serving.includes(server)) {
        faults.push('under load: no answer of a server that runs')
        load.isEnding = true
      }
      counts.unavailable += 1
      await delay(PAUSE_MS)
    }
    return undefined
  }

  async function work(client: RegisteredClient, first: string): Promise<void> {
    let token = first
    while (!load.isEnding) {
      const metadata = { redirect_uris: [REDIRECT_URI] }
      const created = await ask(201, (server) => postJson(server, '/v2/oauth/register', metadata))
      if (created === undefined) return
      const one = created.json<RegisteredClient>()
      registered.push(one)
      await ask(200, (server) => readClient(server, one))
      const renewed = await ask(200, (server) => refresh(server, client, token))
      token = renewed?.json<Tokens>().refresh_token ?? token
    }
  }

  return {
    counts,
    serving,
    async begin(server: RemoteServer): Promise<void> {
      const client = await registerClient(server)
      const { refresh_token = '' } = await obtainTokens(server, client)
      load.working = work(client, refresh_token)
    },
    /** Returns what went wrong. `last`: the server at which each client that was acknowledged must be. */
    async end(last: RemoteServer | undefined): Promise<readonly string[]> {
      load.isEnding = true
      await load.working
      if (last !== undefined)
        for (const one of registered) {
          const { statusCode, body } = await readClient(last, one)
          if (statusCode !== 200) faults.push(`a client is lost: ${statusCode} ${body}`)
        }
      return faults
    },
  }
}

function readClient(server: RemoteServer, client: RegisteredClient): ReturnType<RemoteServer['inject']> {
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  return server.inject({ url: `${pathname}${search}`, headers: { authorization } })
}
