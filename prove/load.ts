import { setTimeout as delay } from 'node:timers/promises'
import { REDIRECT_URI, registerClient, type RegisteredClient } from '../test/support/flow.ts'
import { openGrant, requestToken, type Grant, type Outcome } from './grant.ts'
import { openPerson } from './person.ts'
import { describeReception, send, type Reception } from './send.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'
import { openVisitor } from './visitor.ts'

/** Clients that send all kinds of requests and record the acknowledged writes. */
export interface Load {
  readonly client: RegisteredClient
  readonly counts: Readonly<Counts>
  /** The acknowledged writes. */
  readonly facts: Facts
  /** Resolves to the time at which the next write that is requested after that time is acknowledged. */
  readonly nextWrite: (after: number) => Promise<number>
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

interface Counts {
  requests: number
  failed: number
  unavailable: number
  /** Successful registrations, redemptions and refreshes. */
  acknowledged: number
}

const CLIENTS = { registering: 3, asMachines: 4, redeeming: 3, refreshing: 10 } as const
const PAUSE_MS = 40
/** The most requests for a grant, so that its history stays short enough to be checked. */
const FAMILY_LIMIT = 3000

/** With `mayBeUnavailable`, an answer of 503 is not a failure, and the request is repeated. */
export async function openLoad(
  stage: Stage,
  tally: Tally,
  { mayBeUnavailable }: { readonly mayBeUnavailable: boolean },
): Promise<Load> {
  const client = await registerClient(openVisitor(stage))
  const person = await openPerson(stage, client)
  const counts: Counts = { requests: 0, failed: 0, unavailable: 0, acknowledged: 0 }
  const clients: RegisteredClient[] = []
  const families: Family[] = []
  const codes: Grant[] = []
  const waiting = new Set<{ readonly after: number; readonly resolve: (at: number) => void }>()
  const stopping = new AbortController()

  /** Whether the answer is as expected. Other answers are counted. */
  function expect(what: string, reception: Reception, isGood: boolean): boolean {
    counts.requests += 1
    if (isGood) return true
    if (mayBeUnavailable && reception.kind === 'answer' && reception.status === 503) counts.unavailable += 1
    else {
      counts.failed += 1
      tally.note(`${what} had ${describeReception(reception)}`)
    }
    return false
  }

  function acknowledge(askedAt: number): void {
    counts.acknowledged += 1
    for (const one of waiting) {
      if (askedAt < one.after) continue
      waiting.delete(one)
      one.resolve(performance.now())
    }
  }

  async function repeat(step: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      await step()
      await delay(PAUSE_MS)
    }
  }

  async function register(): Promise<void> {
    const askedAt = performance.now()
    const reception = await postRegistration(stage)
    tally.operations += 1
    if (!expect('a registration', reception, isStatus(reception, 201)) || reception.kind !== 'answer') return
    acknowledge(askedAt)
    clients.push(JSON.parse(reception.body) as RegisteredClient)
  }

  async function ask(): Promise<void> {
    const one = clients.at(-1) ?? client
    const reception = await requestToken(stage, one, { grant_type: 'client_credentials' }, stage.port)
    tally.operations += 1
    expect('client_credentials', reception, isStatus(reception, 200))
  }

  async function startGrant(): Promise<Grant | undefined> {
    const { code, reception } = await person.askForCode()
    expect('an authorization', reception, code !== undefined)
    return code === undefined ? undefined : openGrant({ stage, tally, client, code })
  }

  /** Repeats the request until there is an answer. After a lost answer the code may already be redeemed. */
  async function redeem(grant: Grant): Promise<Outcome> {
    for (let wasLost = false; ; wasLost = true) {
      const askedAt = performance.now()
      const outcome = await grant.redeem()
      const isSpent = wasLost && outcome.output?.kind === 'refused'
      if (expect('a redemption', outcome.reception, outcome.output?.kind === 'issued' || isSpent)) {
        if (!isSpent) acknowledge(askedAt)
        return outcome
      }
      if (outcome.output !== undefined || stopping.signal.aborted) return outcome
      await delay(PAUSE_MS)
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
      await delay(PAUSE_MS)
      const askedAt = performance.now()
      const outcome = await grant.refresh(family.live)
      const answer = outcome.output
      expect('a refresh', outcome.reception, answer?.kind === 'issued')
      if (answer?.kind === 'refused') return
      if (answer === undefined) continue
      acknowledge(askedAt)
      family.spent.push(family.live)
      family.live = answer.refreshToken
    }
  }

  const work = [
    ...times(CLIENTS.registering, () => repeat(register)),
    ...times(CLIENTS.asMachines, () => repeat(ask)),
    ...times(CLIENTS.redeeming, () => repeat(redeemOne)),
    ...times(CLIENTS.refreshing, () => repeat(refreshFamily)),
  ]
  return {
    client,
    counts,
    facts: { clients, families, codes },
    nextWrite: (after) => new Promise((resolve) => waiting.add({ after, resolve })),
    async stop() {
      stopping.abort()
      await Promise.all(work)
    },
  }
}

function postRegistration({ port, agent, limitMs }: Stage): Promise<Reception> {
  const body = JSON.stringify({ redirect_uris: [REDIRECT_URI], grant_types: ['client_credentials'] })
  const headers = { 'content-type': 'application/json' }
  return send({ port, method: 'POST', path: '/v2/oauth/register', headers, body, agent, limitMs })
}

function isStatus(reception: Reception, status: number): boolean {
  return reception.kind === 'answer' && reception.status === status
}

function times<T>(count: number, make: () => T): readonly T[] {
  return Array.from({ length: count }, make)
}
