import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../bench/statistics.ts'
import { audit } from './audit.ts'
import { openLoad, type Load } from './load.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'

/** What is done to the nodes and to the database while clients go on. */

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly worst: number
}

export interface RollingResult {
  readonly nodeRestarts: number
  readonly requests: number
  /** All but those that were answered as they should be. */
  readonly failed: number
  readonly drainMs: Spread
}

export interface KillsResult {
  readonly kills: number
  readonly requests: number
  /** 503, which is right while the database is away. */
  readonly unavailable: number
  /** From the kill to the first write that was acknowledged after it. */
  readonly windowMs: Spread
  /** The part of it after PostgreSQL itself was up again. */
  readonly recoveryMs: Spread
  readonly acknowledged: number
  readonly lost: number
  readonly resurrected: number
}

export type OnProgress = (done: string) => void

/** The database, as far as it can be killed. */
export interface Mortal {
  /** Resolves when it is gone. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

const SETTLE_MS = 300
/** A proxy that has not seen a ready node by then never will. */
const SEEN_LIMIT_MS = 60_000
const RECOVERY_LIMIT_MS = 60_000

/** Every node in turn is stopped and started, so many times, and no client notices. */
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

/** The database is killed and started again, so many times. What a client was told before stays true. */
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
    // Not in step with anything.
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
