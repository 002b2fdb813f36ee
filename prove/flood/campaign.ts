import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { formBody, hasStatus, send, type SendResult } from '../../tools/send.ts'

/** The redirect URIs of hostile registrations: one host, hosts that differ, and the user's own computer. */
export const KINDS = ['one host', 'other hosts', 'loopback'] as const
export type Kind = (typeof KINDS)[number]

/** How many registrations had each status, by kind. 0: no answer. */
export type Counts = ReadonlyMap<string, number>

export interface FloodPlan {
  readonly registrations: number
  readonly networks: number
  /** Registrations that wait for an answer at a time. */
  readonly atOnce: number
}

/** What the registrations are sent to. */
export interface FloodTarget {
  readonly port: number
  /** The path of the issuer. */
  readonly path: string
}

/** Hostile networks are the /64 of this many /32. */
const SITES = 10

/** Registers as fast as the server answers, from many networks in turn. */
export async function flood(target: FloodTarget, { registrations, networks, atOnce }: FloodPlan): Promise<Counts> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const counts = new Map<string, number>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < registrations) {
      const index = next
      next += 1
      const kind = KINDS[index % KINDS.length] ?? 'loopback'
      const answer = await register(target, hostileAddress(index % networks), metadataOf(kind, index), agent)
      const key = `${kind}: ${statusOf(answer)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  agent.destroy()
  return counts
}

/** What other callers experience. */
export interface Experience {
  /** Milliseconds of each token request. */
  readonly tokenMs: readonly number[]
  /** Token requests that got no token. */
  readonly withoutToken: number
  /** Registrations of other networks, and those of them that were refused. */
  readonly registered: number
  readonly refused: number
}

/**
 * Requests a token every few milliseconds, and registers a client each second from a /16 that sent nothing in the last minute, in turn
 * with a web and a loopback redirect URI. Stops when `signal` aborts.
 */
export async function observe(
  target: FloodTarget,
  machine: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Experience> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  const tokenMs: number[] = []
  let [withoutToken, registered, refused, registerAt, index] = [0, 0, 0, performance.now(), 0]
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  while (!signal.aborted) {
    const startedAt = performance.now()
    const form = formBody({ ...machine, grant_type: 'client_credentials' }, headers)
    if (!hasStatus(await send({ port: target.port, path: `${target.path}/v2/oauth/token`, agent, ...form }), 200))
      withoutToken += 1
    tokenMs.push(performance.now() - startedAt)
    if (startedAt >= registerAt) {
      registerAt = startedAt + SECOND_MS
      index += 1
      const metadata = metadataOf(index % 2 === 0 ? 'one host' : 'loopback', -index)
      if (hasStatus(await register(target, `${11 + (index % 100)}.${index % 250}.0.9`, metadata, agent), 201))
        registered += 1
      else refused += 1
    }
    await delay(PAUSE_MS)
  }
  agent.destroy()
  return { tokenMs, withoutToken, registered, refused }
}

const SECOND_MS = 1000
const PAUSE_MS = 5

/** Registers a client, and returns the members with which it authenticates. @throws Error if it is refused */
export async function registerMachine(target: FloodTarget): Promise<Readonly<Record<string, string>>> {
  const answer = await register(target, '192.0.2.1', { grant_types: ['client_credentials'] }, undefined)
  if (!hasStatus(answer, 201)) throw new Error('The first client was refused.')
  const { client_id, client_secret } = JSON.parse(answer.body) as Readonly<Record<string, string>>
  return { client_id: client_id ?? '', client_secret: client_secret ?? '' }
}

function register(
  { port, path }: FloodTarget,
  address: string,
  metadata: object,
  agent: Agent | undefined,
): Promise<SendResult> {
  const headers = { 'x-forwarded-for': address, 'content-type': 'application/json' }
  return send({ port, path: `${path}/v2/oauth/register`, headers, body: JSON.stringify(metadata), agent })
}

/** Each client is another one, so that none is shared. */
function metadataOf(kind: Kind, index: number): object {
  const client_name = `Client ${index}`
  switch (kind) {
    case 'one host':
      return { client_name, redirect_uris: ['https://app.example/cb'] }
    case 'other hosts':
      return { client_name, redirect_uris: [`https://h${index}.example/cb`] }
    case 'loopback':
      return { client_name, redirect_uris: ['http://127.0.0.1/cb'], token_endpoint_auth_method: 'none' }
  }
}

function hostileAddress(network: number): string {
  const inSite = Math.floor(network / SITES)
  return `2001:${(0xd00 + (network % SITES)).toString(16)}:${Math.floor(inSite / 10).toString(16)}:${(inSite % 10).toString(16)}::1`
}

function statusOf(answer: SendResult): number {
  return answer.kind === 'response' ? answer.status : 0
}
