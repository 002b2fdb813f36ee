import type { AuditLinkRecord } from '../ports/records/audit.ts'
import type { Operation } from '../ports/operations.ts'
import { StoreUnavailable } from '../ports/store.ts'
import { auditLinkId, auditLinkParts, chainStart } from '../protocol/audit-link.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { mintOrderedId, type Random } from '../protocol/ids.ts'
import { auditEvents } from './operation-events.ts'

/** The chains that this process writes: as many at a time as it has transactions under way. */
export interface Chains {
  /** For one transaction, however often it is tried. */
  readonly begin: () => Writing
  /** The last link of each chain that grew since this was asked. */
  readonly takeHeads: () => readonly ChainHead[]
  /** Whether this process goes on with this chain and with no other. */
  readonly isOnlyOwn: (chainId: string) => boolean
}

/** What a transaction adds to the audit. */
export interface Writing {
  /** What is to be inserted beside the facts; undefined: nothing that matters happened. Made anew at every try. */
  readonly link: (operations: readonly Operation[], outcomes: readonly unknown[]) => AuditLinkRecord | undefined
  readonly committed: () => void
  readonly failed: (cause: unknown) => void
}

export type ChainHead = Pick<AuditLinkRecord, 'chainId' | 'sequence' | 'hash' | 'recordedAt'>

export interface ChainsOptions {
  /** Keyed, so that nobody who only has the database can make a link. */
  readonly digest: (parts: readonly string[]) => string
  readonly clock: () => EpochMs
  readonly random: Random
}

/** A chain that no transaction uses. */
interface Chain {
  readonly id: string
  /** When its last link was recorded; of a new one, when it began. */
  readonly recordedAt: EpochMs
  /** Of the next link. */
  readonly sequence: number
  /** Of the last link; '' at the start. */
  readonly hash: string
}

/**
 * A transaction takes a chain for itself and advances it when its commit succeeded. After a commit of which nobody knows the
 * outcome the chain is given up: another link of its sequence may be in the store. Never two links follow one.
 */
export function openChains({ digest, clock, random }: ChainsOptions): Chains {
  const free: Chain[] = []
  const grown = new Map<string, ChainHead>()
  /** What this process may still add to, and since when. */
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
    let chain: Chain | undefined
    let link: AuditLinkRecord | undefined
    return {
      link(operations, outcomes) {
        const events = auditEvents(operations, outcomes)
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
        if (chain === undefined) return
        if (link === undefined) free.push(chain)
        else {
          const { recordedAt, sequence, hash } = link
          free.push({ id: chain.id, recordedAt, sequence: sequence + 1, hash })
          grown.set(chain.id, { chainId: chain.id, sequence, hash, recordedAt })
        }
      },
      failed(cause) {
        if (chain === undefined) return
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
    isOnlyOwn(chainId) {
      const hour = chainStart(clock())
      const growing = [...open].filter(([, since]) => chainStart(since) === hour)
      return growing.length === 1 && growing[0]?.[0] === chainId
    },
  }
}

function nextLink(chain: Chain, now: EpochMs, events: string, digest: ChainsOptions['digest']): AuditLinkRecord {
  // A clock that is set back does not turn a chain around.
  const recordedAt = Math.max(now, chain.recordedAt) as EpochMs
  const content = { chainId: chain.id, sequence: chain.sequence, recordedAt, previousHash: chain.hash, events }
  return { id: auditLinkId(content), ...content, hash: digest(auditLinkParts(content)) }
}
