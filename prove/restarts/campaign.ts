import { setTimeout as delay } from 'node:timers/promises'
import { audit, type AuditResult } from './audit.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { openLoad, type Load, type Tally } from './load.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Findings } from '../findings.ts'

/** Restarts nodes and kills the database while clients continue to send requests. */

export interface RollingResult {
  readonly requests: number
  /** Requests without the expected answer. */
  readonly failed: number
  /** The times from SIGTERM to the exit, one for each restart of a node. */
  readonly drainsMs: readonly number[]
}

/** Answers of 503 are right while the database is unavailable. */
export interface KillsResult extends AuditResult, Readonly<Tally> {
  readonly kinds: ReadonlyMap<string, Readonly<Tally>>
  readonly acknowledged: number
  /** The times from each kill to the first write that was acknowledged after it. */
  readonly windowsMs: readonly number[]
  /** The parts of these times after PostgreSQL itself was up again. */
  readonly recoveriesMs: readonly number[]
  /** The times from each kill to the last answer of 503, for the kills that caused one. */
  readonly unavailableMs: readonly number[]
}

/** The operations on the database that a campaign needs. */
export interface KillableDatabase {
  /** Kills the database. Resolves when its processes have ended. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

interface RollingOptions {
  readonly restarts: number
  /** Between two requests of a client. */
  readonly pauseMs?: number
}

export interface KillsOptions {
  readonly kills: number
  /** The time without an answer of 503 after which the database counts as available, and may be killed again. */
  readonly quietMs: number
  /** Between two requests of a client. */
  readonly pauseMs?: number
}

const SETTLE_MS = 300
/** The time within which the proxy must see a ready node. */
const SEEN_LIMIT_MS = 60_000
const RECOVERY_LIMIT_MS = 60_000

/** Stops and starts every node in turn, a number of times. No request of a client may fail. */
export async function proveRolling(
  cluster: Cluster,
  findings: Findings,
  { restarts, pauseMs }: RollingOptions,
): Promise<RollingResult> {
  const load = await openLoad(cluster, findings, { mayBeUnavailable: false, pauseMs })
  const drainsMs: number[] = []
  for (let round = 1; round <= restarts; round += 1) {
    for (const node of cluster.nodes) {
      await delay(SETTLE_MS)
      drainsMs.push(await node.stop())
      await node.start()
      await untilSeen(cluster, node.port)
    }
    if (round % 10 === 0) findings.progress(`${round} rolling restarts, ${load.counts.failed} failed requests`)
  }
  await delay(SETTLE_MS)
  await load.stop()
  await audit(cluster, findings, load)
  return { ...load.counts, drainsMs }
}

/** Kills the database and starts it again, a number of times. Acknowledged writes must stay in effect. */
export async function proveKills(
  cluster: Cluster,
  findings: Findings,
  database: KillableDatabase,
  { kills, quietMs, pauseMs }: KillsOptions,
): Promise<KillsResult> {
  const load = await openLoad(cluster, findings, { mayBeUnavailable: true, pauseMs })
  const windowsMs: number[] = []
  const recoveriesMs: number[] = []
  const unavailableMs: number[] = []
  for (let kill = 1; kill <= kills; kill += 1) {
    // The pause is random, so that kills do not coincide with periodic work.
    await delay(SETTLE_MS * (1 + 3 * Math.random()))
    const killedAt = performance.now()
    await database.kill()
    const first = firstWrite(load, performance.now())
    await database.start()
    const upAt = performance.now()
    const firstAt = await first
    if (firstAt === undefined) findings.report(`kill ${kill}: nothing was written for a minute`)
    else {
      windowsMs.push(firstAt - killedAt)
      recoveriesMs.push(Math.max(0, firstAt - upAt))
    }
    if (!(await untilAvailable(load, quietMs)))
      findings.report(`kill ${kill}: a minute after the start there is still 503`)
    if (load.unavailableAt() > killedAt) unavailableMs.push(load.unavailableAt() - killedAt)
    if (kill % 5 === 0) findings.progress(`${kill} kills, ${load.counts.unavailable} answers of 503`)
  }
  await delay(SETTLE_MS)
  await load.stop()
  return { ...load.counts, ...(await audit(cluster, findings, load)), windowsMs, recoveriesMs, unavailableMs }
}

/** The lines of a report. */
export function describeKills(killed: KillsResult): readonly string[] {
  return [
    `  requests: ${killed.requests}, of them 503: ${killed.unavailable}`,
    ...[...killed.kinds].map(([kind, tally]) => `    ${kind}: ${tally.requests}, ${tally.unavailable}`),
    `  acknowledged writes: ${killed.acknowledged}, lost: ${killed.lost}, resurrected: ${killed.resurrected}`,
    `  kill to the next acknowledged write: ${describeTimes(killed.windowsMs)}`,
    `  of that after the database was up: ${describeTimes(killed.recoveriesMs)}`,
    `  kill to the last 503: ${describeTimes(killed.unavailableMs)}`,
  ]
}

export function describeTimes(durationsMs: readonly number[]): string {
  const { count, p50Ms, p99Ms, worstMs } = summarizeTimes(durationsMs)
  if (count === 0) return 'none'
  return `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, worst ${worstMs.toFixed(0)} ms`
}

async function firstWrite(load: Load, after: number): Promise<number | undefined> {
  const timeout = new AbortController()
  const first = await Promise.race([
    load.nextWrite(after),
    delay(RECOVERY_LIMIT_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
  ])
  timeout.abort()
  return first
}

/** Waits until requests have had no 503 for a while. Returns false if that takes too long. */
async function untilAvailable(load: Load, quietMs: number): Promise<boolean> {
  const from = performance.now()
  for (;;) {
    const now = performance.now()
    if (now - Math.max(from, load.unavailableAt()) > quietMs) return true
    if (now - from > RECOVERY_LIMIT_MS) return false
    await delay(20)
  }
}

async function untilSeen({ proxy }: Cluster, port: number): Promise<void> {
  const deadline = performance.now() + SEEN_LIMIT_MS
  while (!proxy.isReady(port)) {
    if (performance.now() > deadline) throw new Error(`The proxy does not see the node on port ${port}.`)
    await delay(20)
  }
}
