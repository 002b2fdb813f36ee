import type { Context } from '../ports/context.ts'
import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import { auditLinkId, auditLinkParts } from '../protocol/audit-link.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import { CLOCK_TOLERANCE_MS } from '../protocol/clock.ts'

const SLICE = 200
const CLOCKS_DIFFER_MS = 2 * CLOCK_TOLERANCE_MS
/** Named at most: who changed a million links is found by a thousand. */
const FAULT_LIMIT = 1000
const SWEPT = 'audit.swept'

/** One thing that is wrong with the audit. */
export interface AuditFault {
  readonly kind:
    /** The link is not what was written. */
    | 'changed'
    /** Links between two others, or before the first one, are not there. */
    | 'missing'
    /** The chain ends before a link that others saw. */
    | 'cut-off'
    /** There is nothing of a chain that others saw. */
    | 'chain-missing'
  /** undefined: it is not there. */
  readonly link: string | undefined
  readonly chain: string
  /** Of the link, or of the first one that is missing. */
  readonly sequence: number
  /** Of the last one that is missing, or that others saw. */
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
  /** Of chains that grew while they were read, how far. */
  readonly later: Map<string, number>
  /** Links of hours before it were swept. */
  sweptBefore: number
  links: number
  events: number
}

type Needs = Pick<Context, 'secrets'> & { readonly store: Pick<Context['store'], 'listAuditLinks'> }

/**
 * Reads the whole audit, newest first, and answers what is wrong with it, FAULT_LIMIT faults at most. Each link proves itself by its digest,
 * which only the root secret makes; that it follows another, by that one's digest; that the last one of a chain is the last,
 * by the links of other chains that name it, and by `known`, what the operator has from a log.
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

/** Newest first. */
async function readLinks(store: Needs['store'], since: EpochMs, read: (link: AuditLinkRecord) => void): Promise<void> {
  let before: string | undefined
  for (;;) {
    const links = await store.listAuditLinks({ before, limit: SLICE, since })
    for (const link of links) read(link)
    if (links.length < SLICE) return
    before = links.at(-1)?.id
  }
}

/** What went on meanwhile: a sweep took what was still to be read, or a link was named that was not there before. */
function lookAgain(state: State, secrets: Needs['secrets'], link: AuditLinkRecord): void {
  const { chainId, sequence, events, hash } = link
  if (link.id !== auditLinkId(link) || !secrets.digestMatches('audit', auditLinkParts(link), hash)) return
  state.later.set(chainId, Math.max(sequence, state.later.get(chainId) ?? 0))
  for (const { event, details } of JSON.parse(events) as readonly AuditEvent[])
    if (event === SWEPT) state.sweptBefore = Math.max(state.sweptBefore, Number(details?.['before']))
}

function examine(state: State, secrets: Needs['secrets'], link: AuditLinkRecord): void {
  const { id, chainId: chain, sequence, recordedAt, previousHash, events, hash } = link
  state.links += 1
  const above = state.chains.get(chain)
  const isPlaced = id === auditLinkId(link)
  const isSound = isPlaced && secrets.digestMatches('audit', auditLinkParts(link), hash)
  const follows = above?.lowest.sequence !== sequence + 1 || [hash, undefined].includes(above.lowest.previousHash)
  if (!isSound || !follows) tell(state, { kind: 'changed', link: id, chain, sequence, through: sequence })
  // A link that says of itself that it is another one holds no place in a chain.
  if (!isPlaced || (above !== undefined && sequence >= above.lowest.sequence)) return
  if (above !== undefined) checkGap(state, chain, sequence + 1, above.lowest.sequence - 1)
  state.chains.set(chain, {
    highest: above?.highest ?? sequence,
    lowest: { sequence, recordedAt, previousHash: isSound ? previousHash : undefined },
  })
  if (isSound) readEvents(state, events)
}

function checkGap(state: State, chain: string, first: number, last: number): void {
  if (first <= last) tell(state, { kind: 'missing', link: undefined, chain, sequence: first, through: last })
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

/** A sweep takes a chain from its start, and only links of hours that are over for all of it. */
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
  tell(state, { kind, link: undefined, chain, sequence: first, through: sequence })
}

function tell({ faults }: State, fault: AuditFault): void {
  if (faults.length < FAULT_LIMIT) faults.push(fault)
}
