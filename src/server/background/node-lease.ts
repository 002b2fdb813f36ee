import type { Context, StoreNeeds } from '../../ports/context.ts'

/** How often the node that holds the lease replaces its mark, and the others read it. */
const INTERVAL_MS = 2000
/** A mark that stays the same for so long is of a node that has stopped. */
const HOLD_MS = 6000
const MARK_BYTES = 16

type Needs = Pick<Context, 'clockCheck' | 'random'> & StoreNeeds<'findLeaseMark' | 'releaseLease' | 'takeLease'>

/** The right to do what one node does for all. Two nodes may do it at the same time for a moment, which is harmless. */
export interface NodeLease {
  readonly isHeld: () => boolean
  /** Takes, keeps or gives up the lease, or looks whether it is free. Never rejects. */
  readonly round: () => Promise<void>
  /** Gives the lease up, so that another node need not wait for its end. */
  readonly release: () => Promise<void>
}

/**
 * Opens the lease of a node. The holder replaces a mark, and another node takes over if the mark has not changed for six seconds of its
 * own monotonic clock. So no clocks are compared: those of nodes and machines may differ. A node whose clock is wrong sends and
 * deletes nothing, and does not hold the lease.
 *
 * @param name A node that does less than the others has a lease of another name.
 */
export function openNodeLease(context: Needs, name: string, monotonic: () => number): NodeLease {
  const { clockCheck, random, store } = context
  let own: { readonly mark: string; readonly until: number } | undefined
  /** The mark of another node, and when this node saw it for the first time. */
  let lastSeen: { readonly mark: string; readonly since: number } | undefined

  async function take(previous: string | undefined): Promise<void> {
    const mark = random(MARK_BYTES).toString('base64url')
    const until = monotonic() + HOLD_MS
    const isTaken = (await store.takeLease({ name, previous, mark })) === 'taken'
    own = isTaken ? { mark, until } : undefined
    lastSeen = undefined
  }

  async function look(): Promise<void> {
    const mark = await store.findLeaseMark(name)
    if (mark === undefined) return take(undefined)
    if (mark !== lastSeen?.mark) lastSeen = { mark, since: monotonic() }
    else if (monotonic() - lastSeen.since >= HOLD_MS) await take(mark)
  }

  async function release(): Promise<void> {
    const held = own
    own = undefined
    if (held !== undefined) await store.releaseLease({ name, mark: held.mark }).catch(() => undefined)
  }

  return {
    isHeld: () => own !== undefined && monotonic() < own.until,
    release,
    async round() {
      if (clockCheck.differenceMs() !== 0) return release()
      try {
        await (own === undefined ? look() : take(own.mark))
      } catch {
        // It is unknown which mark the store has. The node looks again.
        own = undefined
      }
    },
  }
}

/** Keeps the lease at intervals. Returns the function that stops this, and gives the lease up. */
export function startHolding({ round, release }: NodeLease): () => Promise<void> {
  let working: Promise<void> | undefined
  const work = (): void => void (working ??= round().finally(() => (working = undefined)))
  work()
  const timer = setInterval(work, INTERVAL_MS).unref()
  return async () => {
    clearInterval(timer)
    await working
    await release()
  }
}
