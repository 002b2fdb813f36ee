import { setTimeout as delay } from 'node:timers/promises'
import { audit, type AuditResult } from './audit.ts'
import { openLoad, type Load } from './load.ts'
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

export interface KillsResult extends AuditResult {
  readonly requests: number
  /** Answers of 503, which are right while the database is unavailable. */
  readonly unavailable: number
  readonly acknowledged: number
  /** The times from each kill to the first write that was acknowledged after it. */
  readonly windowsMs: readonly number[]
  /** The parts of these times after PostgreSQL itself was up again. */
  readonly recoveriesMs: readonly number[]
}

/** The operations on the database that a campaign needs. */
export interface KillableDatabase {
  /** Kills the database. Resolves when its processes have ended. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

const SETTLE_MS = 300
/** The time within which the proxy must see a ready node. */
const SEEN_LIMIT_MS = 60_000
const RECOVERY_LIMIT_MS = 60_000

/** Stops and starts every node in turn, a number of times. No request of a client may fail. */
export async function proveRolling(cluster: Cluster, findings: Findings, restarts: number): Promise<RollingResult> {
  const load = await openLoad(cluster, findings, { mayBeUnavailable: false })
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
  kills: number,
): Promise<KillsResult> {
  const load = await openLoad(cluster, findings, { mayBeUnavailable: true })
  const windowsMs: number[] = []
  const recoveriesMs: number[] = []
  for (let kill = 1; kill <= kills; kill += 1) {
    // The pause is random, so that kills do not coincide with periodic work.
    await delay(SETTLE_MS * (2 + 4 * Math.random()))
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
    if (kill % 5 === 0) findings.progress(`${kill} kills, ${load.counts.unavailable} answers of 503`)
  }
  await delay(SETTLE_MS)
  await load.stop()
  return { ...load.counts, ...(await audit(cluster, findings, load)), windowsMs, recoveriesMs }
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

async function untilSeen({ proxy }: Cluster, port: number): Promise<void> {
  const deadline = performance.now() + SEEN_LIMIT_MS
  while (!proxy.isReady(port)) {
    if (performance.now() > deadline) throw new Error(`The proxy does not see the node on port ${port}.`)
    await delay(20)
  }
}
