import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../bench/statistics.ts'
import { audit } from './audit.ts'
import { openLoad, type Load } from './load.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'

/** Restarts nodes and kills the database while clients continue to send requests. */

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly worst: number
}

export interface RollingResult {
  readonly nodeRestarts: number
  readonly requests: number
  /** Requests without the expected answer. */
  readonly failed: number
  readonly drainMs: Spread
}

export interface KillsResult {
  readonly kills: number
  readonly requests: number
  /** Answers of 503, which are right while the database is unavailable. */
  readonly unavailable: number
  /** The time from the kill to the first write that was acknowledged after it. */
  readonly windowMs: Spread
  /** The part of that time after PostgreSQL itself was up again. */
  readonly recoveryMs: Spread
  readonly acknowledged: number
  readonly lost: number
  readonly resurrected: number
}

export type OnProgress = (done: string) => void

/** The operations on the database that a campaign needs. */
export interface Mortal {
  /** Kills the database. Resolves when its processes have ended. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

const SETTLE_MS = 300
/** The time within which the proxy must see a ready node. */
const SEEN_LIMIT_MS = 60_000
const RECOVERY_LIMIT_MS = 60_000

/** Stops and starts every node in turn, a number of times. No request of a client may fail. */
export async function proveRolling(
  stage: Stage,
  tally: Tally,
  { restarts, onProgress }: { readonly restarts: number; readonly onProgress: OnProgress },
): Promise<RollingResult> {
  const load = await openLoad(stage, tally, { mayBeUnavailable: false })
  const drains: number[] = []
  for (let round = 0; round < restarts; round += 1) {
    for (const node of stage.nodes) {
      await delay(SETTLE_MS)
      drains.push(await node.stop())
      await node.start()
      await untilSeen(stage, node.port)
    }
    if ((round + 1) % 10 === 0) onProgress(`${round + 1} rolling restarts, ${load.counts.failed} failed requests`)
  }
  await delay(SETTLE_MS)
  await load.stop()
  await audit(stage, tally, load)
  const { requests, failed } = load.counts
  return { nodeRestarts: drains.length, requests, failed, drainMs: spreadOf(drains) }
}

/** Kills the database and starts it again, a number of times. Acknowledged writes must stay in effect. */
export async function proveKills(
  stage: Stage,
  tally: Tally,
  postgres: Mortal,
  { kills, onProgress }: { readonly kills: number; readonly onProgress: OnProgress },
): Promise<KillsResult> {
  const load = await openLoad(stage, tally, { mayBeUnavailable: true })
  const windows: number[] = []
  const recoveries: number[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    // The pause is random, so that kills do not coincide with periodic work.
    await delay(SETTLE_MS * (2 + 4 * Math.random()))
    const killedAt = performance.now()
    await postgres.kill()
    const goneAt = performance.now()
    const first = firstWrite(load, goneAt)
    await postgres.start()
    const upAt = performance.now()
    const firstAt = await first
    if (firstAt === undefined) tally.note(`kill ${kill}: nothing was written for a minute`)
    else {
      windows.push(firstAt - killedAt)
      recoveries.push(Math.max(0, firstAt - upAt))
    }
    if ((kill + 1) % 5 === 0) onProgress(`${kill + 1} kills, ${load.counts.unavailable} answers of 503`)
  }
  await delay(SETTLE_MS)
  await load.stop()
  const { lost, resurrected } = await audit(stage, tally, load)
  const { requests, unavailable, acknowledged } = load.counts
  const spreads = { windowMs: spreadOf(windows), recoveryMs: spreadOf(recoveries) }
  return { kills, requests, unavailable, ...spreads, acknowledged, lost, resurrected }
}

async function firstWrite(load: Load, after: number): Promise<number | undefined> {
  const impatience = new AbortController()
  const first = await Promise.race([
    load.nextWrite(after),
    delay(RECOVERY_LIMIT_MS, undefined, { signal: impatience.signal }).catch(() => undefined),
  ])
  impatience.abort()
  return first
}

async function untilSeen({ proxy }: Stage, port: number): Promise<void> {
  const deadline = performance.now() + SEEN_LIMIT_MS
  while (!proxy.isReady(port)) {
    if (performance.now() > deadline) throw new Error(`The proxy does not see the node on port ${port}.`)
    await delay(20)
  }
}

function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { p50: 0, p99: 0, worst: 0 }
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), worst: Math.max(...values) }
}
