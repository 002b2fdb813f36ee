import { StoreClosed, StoreRefusesWrites, StoreUnavailable, type Outage, type StoreDriver } from '../ports/store.ts'
import { atMost } from './at-most.ts'

/** Whether commits succeed, as the commits themselves show it (threats.md STO-07). */
export interface WriteCheck {
  /** To be called with the cause of each commit that failed. */
  readonly failed: (cause: unknown) => void
  /** Whether a commit failed, and no write has succeeded since that shows more than a commit which may have changed nothing. */
  readonly isDoubted: () => boolean
  /** The last time in which commits failed. */
  readonly lastOutage: () => Outage | undefined
  /**
   * Looks whether the next commit can succeed. After a commit that failed this needs a write.
   *
   * @throws StoreUnavailable
   */
  readonly require: () => Promise<void>
  /**
   * Refuses a commit that would surely wait in vain. It costs nothing while commits succeed.
   *
   * @throws StoreRefusesWrites
   */
  readonly refuse: () => void
}

/** A check of a store that is in doubt is not waited for longer. The answer then is what is known. */
const WAIT_MS = 1000
/** A write that hangs, and is repeated after this many times as long as it took, because each may use up a connection. */
const HANG_MS = 1000
const REST_FACTOR = 2
/** A node without traffic notices an outage so late (`background/write-watch.ts`). */
const NOTICED_MS = 10_000
/** Commits of some rows can fail while the writes of the check succeed. Failures within this time are of one outage. */
const PAUSE_MS = 10_000

/**
 * Opens the check of a store. A commit that fails is only a doubt: a fault of one row or one caller must not take a node out of the
 * balancer. The write that follows decides, and it is repeated until it succeeds, without a request of any user. `monotonic`: the clock by
 * which outages are reported.
 */
export function openWriteCheck(
  driver: Pick<StoreDriver, 'writeProbes'>,
  monotonic: () => number = () => performance.now(),
): WriteCheck {
  let doubt: StoreUnavailable | undefined
  let verdict: StoreUnavailable | undefined
  let checking: Promise<void> | undefined
  let checkedAt = Number.NEGATIVE_INFINITY
  let writesFrom = Number.NEGATIVE_INFINITY
  let outage: { readonly from: number; until: number | undefined } | undefined
  let doubtedAt: number | undefined

  /** A commit that fails is no outage: one row whose writes fail would keep the window of lost answers open for all (threats.md AG-20). */
  function beginOutage(): void {
    const now = monotonic()
    const from = doubtedAt ?? now
    if (outage !== undefined && from - (outage.until ?? from) <= PAUSE_MS) outage.until = undefined
    else outage = { from: from - NOTICED_MS, until: undefined }
  }

  function endOutage(): void {
    if (doubt !== undefined) return
    doubtedAt = undefined
    if (outage !== undefined) outage.until ??= monotonic()
  }

  async function writeOnce(known: StoreUnavailable): Promise<void> {
    const startedAt = performance.now()
    if (startedAt < writesFrom) {
      // The last write failed, or succeeded a moment ago: operations that fail one after the other cause no write each.
      if (verdict !== undefined) throw verdict
      return
    }
    try {
      writesFrom = startedAt + driver.writeProbes.pauseMs
      await driver.writeProbes.write()
    } catch (cause) {
      const tookMs = performance.now() - startedAt
      const restMs = tookMs < HANG_MS ? 0 : tookMs * REST_FACTOR
      writesFrom = startedAt + Math.max(driver.writeProbes.pauseMs, tookMs + restMs)
      throw cause
    }
    // Another commit may have failed meanwhile.
    if (doubt === known) doubt = undefined
  }

  async function checkNow(): Promise<void> {
    try {
      await driver.writeProbes.look()
      if (doubt !== undefined) await writeOnce(doubt)
      verdict = undefined
      endOutage()
    } catch (cause) {
      if (cause instanceof StoreUnavailable) {
        verdict = cause
        beginOutage()
      }
      throw cause
    } finally {
      checkedAt = performance.now()
      checking = undefined
    }
  }

  async function require(): Promise<void> {
    const running = (checking ??= checkNow())
    const known = verdict ?? doubt
    if (known === undefined) return running
    return atMost(WAIT_MS, running, () => {
      throw known
    })
  }

  return {
    failed(cause) {
      if (!(cause instanceof StoreUnavailable) || cause instanceof StoreClosed) return
      doubt = cause
      doubtedAt ??= monotonic()
    },
    isDoubted: () => doubt !== undefined,
    lastOutage() {
      if (outage === undefined) return undefined
      const { from, until } = outage
      const now = monotonic()
      return { beganMsAgo: now - from, endedMsAgo: until === undefined ? 0 : now - until }
    },
    require,
    refuse() {
      if (!(verdict instanceof StoreRefusesWrites) || verdict.fault !== 'commits_wait') return
      // It recovers also where nothing else checks.
      if (performance.now() - checkedAt >= driver.writeProbes.pauseMs) require().catch(() => undefined)
      throw verdict
    },
  }
}
