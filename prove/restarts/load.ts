import { setTimeout as delay } from 'node:timers/promises'
import { REDIRECT_URI, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { ofCode, openGrant, requestToken, type Grant, type Outcome } from '../cluster/grant.ts'
import { openUser } from '../cluster/user.ts'
import { describeResult, hasStatus, send, type SendResult } from '../../tools/send.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Findings } from '../findings.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'

/** Clients that send all kinds of requests and record the acknowledged writes. */
export interface Load {
  readonly client: RegisteredClient
  readonly counts: Readonly<Counts>
  /** The acknowledged writes. */
  readonly facts: Facts
  /** Resolves to the time at which the next write that is requested after that time is acknowledged. */
  readonly nextWrite: (after: number) => Promise<number>
  /** The time of the last answer of 503; 0 if there was none. */
  readonly unavailableAt: () => number
  /** Waits until every client has finished its current step. */
  readonly stop: () => Promise<void>
}

export interface Facts {
  readonly clients: readonly RegisteredClient[]
  readonly families: readonly Family[]
  /** Grants whose code was redeemed, successfully or not. */
  readonly codes: readonly Grant[]
}

export interface Family {
  readonly grant: Grant
  /** The successor in the last answer. */
  live: string
  /** The earlier tokens, the oldest first. */
  readonly spent: string[]
}

/** Requests of one kind. */
export interface Tally {
  requests: number
  /** Answers of 503. */
  unavailable: number
}

interface Counts extends Tally {
  failed: number
  /** Successful registrations, redemptions and refreshes. */
  acknowledged: number
  readonly kinds: Map<string, Tally>
}

const CLIENTS = { registering: 3, asMachines: 4, redeeming: 3, refreshing: 10 } as const
/** Between two requests of a client, unless a campaign asks for less load. */
const PAUSE_MS = 40
/** The most requests for a grant, so that its history stays short enough to be checked. */
const FAMILY_LIMIT = 3000

interface LoadOptions {
  /** An answer of 503 is not a failure, and the request is repeated. */
  readonly mayBeUnavailable: boolean
  readonly pauseMs?: number | undefined
}

export async function openLoad(
  cluster: Cluster,
  findings: Findings,
  { mayBeUnavailable, pauseMs = PAUSE_MS }: LoadOptions,
): Promise<Load> {
  const client = await registerClient(openRemoteServer(cluster))
  const user = await openUser(cluster, client)
  const counts: Counts = { requests: 0, failed: 0, unavailable: 0, acknowledged: 0, kinds: new Map() }
  let unavailableAt = 0
  const clients: RegisteredClient[] = []
  const families: Family[] = []
  const codes: Grant[] = []
  const waiting = new Set<{ readonly after: number; readonly resolve: (at: number) => void }>()
  const stopping = new AbortController()

  /** Whether the answer is as expected. Other answers are counted. */
  function expect(what: string, result: SendResult, isGood: boolean): boolean {
    const tally = counts.kinds.getOrInsertComputed(what, () => ({ requests: 0, unavailable: 0 }))
    for (const one of [counts, tally]) one.requests += 1
    if (isGood) return true
    if (mayBeUnavailable && hasStatus(result, 503)) {
      for (const one of [counts, tally]) one.unavailable += 1
      unavailableAt = performance.now()
    } else {
      counts.failed += 1
      findings.report(`${what} had ${describeResult(result)}`)
    }
    return false
  }

  function acknowledge(sentAt: number): void {
    counts.acknowledged += 1
    for (const one of waiting) {
      if (sentAt < one.after) continue
      waiting.delete(one)
      one.resolve(performance.now())
    }
  }

  async function repeat(step: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      await step()
      await delay(pauseMs)
    }
  }

  async function register(): Promise<void> {
    const sentAt = performance.now()
    const result = await postRegistration(cluster)
    findings.operations += 1
    if (!expect('a registration', result, hasStatus(result, 201)) || result.kind !== 'response') return
    acknowledge(sentAt)
    clients.push(JSON.parse(result.body) as RegisteredClient)
  }

  async function requestAsMachine(): Promise<void> {
    const one = clients.at(-1) ?? client
    const result = await requestToken(cluster, one, { grant_type: 'client_credentials' }, cluster)
    findings.operations += 1
    expect('client_credentials', result, hasStatus(result, 200))
  }

  async function startGrant(): Promise<Grant | undefined> {
    const { code, result } = await user.requestCode()
    expect('an authorization', result, code !== undefined)
    return code === undefined ? undefined : openGrant({ cluster, findings, client, redemption: ofCode(code) })
  }

  /** Repeats the request until there is an answer. After a lost answer the code may already be redeemed. */
  async function redeem(grant: Grant): Promise<Outcome> {
    for (let wasLost = false; ; wasLost = true) {
      const sentAt = performance.now()
      const outcome = await grant.redeem()
      const isSpent = wasLost && outcome.output?.kind === 'refused'
      if (expect('a redemption', outcome.result, outcome.output?.kind === 'issued' || isSpent)) {
        if (!isSpent) acknowledge(sentAt)
        return outcome
      }
      if (outcome.output !== undefined || stopping.signal.aborted) return outcome
      await delay(pauseMs)
    }
  }

  async function redeemOne(): Promise<void> {
    const grant = await startGrant()
    if (grant === undefined) return
    codes.push(grant)
    await redeem(grant)
  }

  async function refreshFamily(): Promise<void> {
    const grant = await startGrant()
    if (grant === undefined) return
    const { output } = await redeem(grant)
    if (output?.kind !== 'issued') return
    const family: Family = { grant, live: output.refreshToken, spent: [] }
    families.push(family)
    while (!stopping.signal.aborted && family.spent.length < FAMILY_LIMIT) {
      await delay(pauseMs)
      const sentAt = performance.now()
      const outcome = await grant.refresh(family.live)
      const answer = outcome.output
      expect('a refresh', outcome.result, answer?.kind === 'issued')
      if (answer?.kind === 'refused') return
      if (answer === undefined) continue
      acknowledge(sentAt)
      family.spent.push(family.live)
      family.live = answer.refreshToken
    }
  }

  const work = [
    ...times(CLIENTS.registering, () => repeat(register)),
    ...times(CLIENTS.asMachines, () => repeat(requestAsMachine)),
    ...times(CLIENTS.redeeming, () => repeat(redeemOne)),
    ...times(CLIENTS.refreshing, () => repeat(refreshFamily)),
  ]
  return {
    client,
    counts,
    facts: { clients, families, codes },
    nextWrite: (after) => new Promise((resolve) => waiting.add({ after, resolve })),
    unavailableAt: () => unavailableAt,
    async stop() {
      stopping.abort()
      await Promise.all(work)
    },
  }
}

function postRegistration({ port, agent, limitMs }: Cluster): Promise<SendResult> {
  const body = JSON.stringify({ redirect_uris: [REDIRECT_URI], grant_types: ['client_credentials'] })
  const headers = { 'content-type': 'application/json' }
  return send({ port, path: '/v2/oauth/register', headers, body, agent, limitMs })
}

function times<T>(count: number, make: () => T): readonly T[] {
  return Array.from({ length: count }, make)
}
