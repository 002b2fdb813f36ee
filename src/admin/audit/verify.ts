import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../../ports/records/audit.ts'
import { auditLinkId, auditLinkParts } from '../../protocol/audit/audit-link.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { CLOCK_TOLERANCE_MS } from '../../base/clock.ts'

const SLICE = 200
const CLOCKS_DIFFER_MS = 2 * CLOCK_TOLERANCE_MS
/** The maximum number of faults in a report. */
const FAULT_LIMIT = 1000
const SWEPT = 'audit.swept'

/** A link of the audit that was changed or removed. */
export interface AuditFault {
  readonly kind:
    /** The link differs from the one that the server wrote. */
    | 'changed'
    /** Links between two others, or before the first link, are missing. */
    | 'missing'
    /** The chain ends before a link that another chain or a log names. */
    | 'cut-off'
    /** All links of a chain that another chain or a log names are missing. */
    | 'chain-missing'
  /** undefined: the link is missing. */
  readonly link: string | undefined
  readonly chain: string
  /** The sequence of the link, or of the first missing link. */
  readonly sequence: number
  /** The sequence of the last missing link. */
  readonly through: number
}

export interface AuditReport {
  readonly chains: number
  readonly links: number
  readonly events: number
  readonly faults: readonly AuditFault[]
}

/** The head of a chain as it was noted elsewhere: in another chain (`audit.head`), or in a log. */
export interface SeenHead {
  readonly chain: string
  readonly sequence: number
  /** undefined: the time is unknown, so the head counts as recorded after every sweep. */
  readonly recordedAt: EpochMs | undefined
}

/** How far down a chain was read, newest first. */
interface ChainState {
  readonly highest: number
  /** The link that was read last. */
  readonly lowest: Pick<AuditLinkRecord, 'sequence' | 'recordedAt'> & {
    /** undefined: the link was changed, so its predecessor is unknown. */
    readonly previousHash: string | undefined
  }
}

interface State {
  readonly chains: Map<string, ChainState>
  readonly seen: Map<string, SeenHead>
  readonly faults: AuditFault[]
  /** The highest sequence of each chain that grew during the verification. */
  readonly later: Map<string, number>
  /** Links of hours before this time were swept. */
  sweptBefore: number
  links: number
  events: number
}

type Needs = Pick<Context, 'secrets'> & StoreNeeds<'listAuditLinks'>

/**
 * Verifies the whole audit, newest links first, and returns at most FAULT_LIMIT faults. Three things are checked: the digest of
 * each link, which can be computed only with the master key; the digest of its predecessor, which each link has; and the
 * end of each chain, which links of other chains name, and the heads in `known`, which the operator has from a log.
 */
export async function verifyAudit({ store, secrets }: Needs, known: readonly SeenHead[]): Promise<AuditReport> {
  const maps = { chains: new Map(), seen: new Map(), later: new Map() }
  const state: State = { ...maps, faults: [], sweptBefore: 0, links: 0, events: 0 }
  for (const head of known) see(state, head)
  let newest: EpochMs | undefined
  await readLinks(store, 0 as EpochMs, (link) => {
    newest ??= link.recordedAt
    examine(state, secrets, link)
  })
  await readLinks(store, after(newest ?? (0 as EpochMs), -CLOCKS_DIFFER_MS), (link) => lookAgain(state, secrets, link))
  for (const [chain, { lowest }] of state.chains) checkStart(state, chain, lowest)
  for (const head of state.seen.values()) checkEnd(state, head)
  const { chains, links, events, faults } = state
  return { chains: chains.size, links, events, faults }
}

/** Reads the links since a time, newest first. */
export async function readLinks(
  store: Needs['store'],
  since: EpochMs,
  read: (link: AuditLinkRecord) => void,
): Promise<void> {
  let before: string | undefined
  for (;;) {
    const links = await store.listAuditLinks({ before, limit: SLICE, since })
    for (const link of links) read(link)
    if (links.length < SLICE) return
    before = links.at(-1)?.id
  }
}

/** Reads the newest links again. Meanwhile a sweep may have removed links, and chains may have grown. */
function lookAgain(state: State, secrets: Needs['secrets'], link: AuditLinkRecord): void {
  const { chainId, sequence, events, hash } = link
  if (link.id !== auditLinkId(link) || !secrets.auditDigestMatches(auditLinkParts(link), link, hash)) return
  state.later.set(chainId, Math.max(sequence, state.later.get(chainId) ?? 0))
  for (const { event, details } of JSON.parse(events) as readonly AuditEvent[])
    if (event === SWEPT) state.sweptBefore = Math.max(state.sweptBefore, Number(details?.['before']))
}

function examine(state: State, secrets: Needs['secrets'], link: AuditLinkRecord): void {
  const { id, chainId: chain, sequence, recordedAt, previousHash, events, hash } = link
  state.links += 1
  const above = state.chains.get(chain)
  const isPlaced = id === auditLinkId(link)
  const isIntact = isPlaced && secrets.auditDigestMatches(auditLinkParts(link), link, hash)
  const follows = above?.lowest.sequence !== sequence + 1 || [hash, undefined].includes(above.lowest.previousHash)
  if (!isIntact || !follows) report(state, { kind: 'changed', link: id, chain, sequence, through: sequence })
  // A link whose id does not match its content has no position in a chain.
  if (!isPlaced || (above !== undefined && sequence >= above.lowest.sequence)) return
  if (above !== undefined) checkGap(state, chain, sequence + 1, above.lowest.sequence - 1)
  state.chains.set(chain, {
    highest: above?.highest ?? sequence,
    lowest: { sequence, recordedAt, previousHash: isIntact ? previousHash : undefined },
  })
  if (isIntact) readEvents(state, events)
}

function checkGap(state: State, chain: string, first: number, last: number): void {
  if (first <= last) report(state, { kind: 'missing', link: undefined, chain, sequence: first, through: last })
}

function readEvents(state: State, text: string): void {
  const events = JSON.parse(text) as readonly AuditEvent[]
  state.events += events.length
  for (const { event, details } of events) {
    if (event === SWEPT) state.sweptBefore = Math.max(state.sweptBefore, Number(details?.['before']))
    if (event !== 'audit.head') continue
    const { chain, sequence, recorded_at: recordedAt } = details ?? {}
    see(state, { chain: String(chain), sequence: Number(sequence), recordedAt: Number(recordedAt) as EpochMs })
  }
}

function see(state: State, head: SeenHead): void {
  const before = state.seen.get(head.chain)
  if (before === undefined || before.sequence < head.sequence) state.seen.set(head.chain, head)
}

/** A sweep removes links from the start of a chain, and only links of hours that have passed. */
function checkStart(state: State, chain: string, { sequence, recordedAt }: ChainState['lowest']): void {
  if (sequence === 0 || recordedAt < state.sweptBefore) return
  checkGap(state, chain, 0, sequence - 1)
}

function checkEnd(state: State, { chain, sequence, recordedAt }: SeenHead): void {
  const found = state.chains.get(chain)
  if (Math.max(found?.highest ?? -1, state.later.get(chain) ?? -1) >= sequence) return
  if (recordedAt !== undefined && recordedAt < state.sweptBefore) return
  const first = found === undefined ? 0 : found.highest + 1
  const kind = found === undefined ? 'chain-missing' : 'cut-off'
  report(state, { kind, link: undefined, chain, sequence: first, through: sequence })
}

function report({ faults }: State, fault: AuditFault): void {
  if (faults.length < FAULT_LIMIT) faults.push(fault)
}
