import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import { StoreUnavailable } from '../ports/store.ts'
import { auditLinkId, auditLinkParts, chainStart } from '../protocol/audit/audit-link.ts'
import type { EpochMs } from '../base/brand.ts'
import { mintOrderedId, type Random } from '../protocol/ids.ts'

/** The hash chains that this process writes. Transactions that run at the same time each write a chain of their own. */
export interface Chains {
  /** Called once for each transaction, however often the transaction is retried. */
  readonly begin: () => Writing
  /** Returns the last link of each chain that has grown since the previous call. */
  readonly takeHeads: () => readonly ChainHead[]
  /** Returns the last link that this process has committed; undefined: none, or none since `abandon`. */
  readonly lastHead: () => ChainHead | undefined
  /** Begins new chains from now on. */
  readonly abandon: () => void
  /** Whether this chain is the only one that this process may still extend. */
  readonly isOnlyOwn: (chainId: string) => boolean
}

/** The audit link of one transaction. */
export interface Writing {
  /** Returns the link to insert in the same transaction; undefined without events. Called for every attempt. */
  readonly link: (events: readonly AuditEvent[]) => AuditLinkRecord | undefined
  readonly committed: () => void
  readonly failed: (cause: unknown) => void
}

export type ChainHead = Pick<AuditLinkRecord, 'chainId' | 'sequence' | 'hash' | 'recordedAt'>

export interface ChainsOptions {
  /** A keyed digest, so that write access to the database is not enough to forge a link. */
  readonly digest: (parts: readonly string[]) => string
  readonly clock: () => EpochMs
  readonly random: Random
}

/** A chain that no transaction uses at present. */
interface Chain {
  readonly id: string
  /** When the last link was recorded; for a new chain, when the chain began. */
  readonly recordedAt: EpochMs
  /** The sequence of the next link. */
  readonly sequence: number
  /** The hash of the last link; '' for a new chain. */
  readonly hash: string
}

/**
 * Opens the chains of a process. A transaction takes a free chain for itself, and advances it when the commit succeeds. If the
 * outcome of a commit is unknown, the chain is abandoned, because the store may already have a link with that sequence. So no
 * two links ever follow the same link.
 */
export function openChains({ digest, clock, random }: ChainsOptions): Chains {
  const free: Chain[] = []
  const grown = new Map<string, ChainHead>()
  let last: ChainHead | undefined
  /** Chains of an earlier number are not continued. */
  let number = 0
  /** The chains that this process may still extend, and when each began. */
  const open = new Map<string, EpochMs>()

  function takeChain(now: EpochMs, mine: Chain | undefined): Chain {
    for (let chain = mine ?? free.pop(); chain !== undefined; chain = free.pop()) {
      if (chainStart(chain.recordedAt) === chainStart(now)) return chain
      open.delete(chain.id)
    }
    const id = mintOrderedId(now, random)
    open.set(id, now)
    return { id, recordedAt: now, sequence: 0, hash: '' }
  }

  function begin(): Writing {
    const began = number
    let chain: Chain | undefined
    let link: AuditLinkRecord | undefined
    return {
      link(events) {
        if (events.length === 0) {
          link = undefined
          return undefined
        }
        const now = clock()
        chain = takeChain(now, chain)
        link = nextLink(chain, now, JSON.stringify(events), digest)
        return link
      },
      committed() {
        if (chain === undefined || began !== number) return
        if (link === undefined) free.push(chain)
        else {
          const { recordedAt, sequence, hash } = link
          free.push({ id: chain.id, recordedAt, sequence: sequence + 1, hash })
          last = { chainId: chain.id, sequence, hash, recordedAt }
          grown.set(chain.id, last)
        }
      },
      failed(cause) {
        if (chain === undefined || began !== number) return
        if (cause instanceof StoreUnavailable) open.delete(chain.id)
        else free.push(chain)
      },
    }
  }

  return {
    begin,
    takeHeads() {
      const heads = [...grown.values()]
      grown.clear()
      return heads
    },
    lastHead: () => last,
    abandon() {
      number += 1
      last = undefined
      free.length = 0
      open.clear()
      grown.clear()
    },
    isOnlyOwn(chainId) {
      const hour = chainStart(clock())
      const growing = [...open].filter(([, since]) => chainStart(since) === hour)
      return growing.length === 1 && growing[0]?.[0] === chainId
    },
  }
}

function nextLink(chain: Chain, now: EpochMs, events: string, digest: ChainsOptions['digest']): AuditLinkRecord {
  // Times in a chain never decrease, even when the clock is set back.
  const recordedAt = Math.max(now, chain.recordedAt) as EpochMs
  const content = { chainId: chain.id, sequence: chain.sequence, recordedAt, previousHash: chain.hash, events }
  return { id: auditLinkId(content), ...content, hash: digest(auditLinkParts(content)) }
}
