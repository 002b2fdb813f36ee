import { hash } from 'node:crypto'
import type { EpochMs } from '../../base/brand.ts'
import { parseJson } from '../../base/json.ts'

/** The part of an audit link that its id contains. */
export interface LinkPlace {
  readonly chainId: string
  /** From 0, without a gap. */
  readonly sequence: number
  readonly recordedAt: EpochMs
}

/** Everything that a link's hash covers. */
export interface LinkContent extends LinkPlace {
  /** The hash of the previous link in the chain; '' for the first link. */
  readonly previousHash: string
  readonly events: string
}

/** A chain ends with the hour in which it began, so that a sweep of whole hours removes whole chains. */
const CHAIN_SPAN_MS = 60 * 60 * 1000

const SEQUENCE_LENGTH = 8
const CHAIN_LENGTH = 14

/**
 * Returns the id of a link. Ids are ordered by time and, within a chain, by sequence. The id is derived from the rest of the
 * link, so a link has exactly one id. It is as long as other time-ordered ids: 12 hex digits of milliseconds, 8 of the
 * sequence, 84 bits of the chain.
 */
export function auditLinkId({ chainId, sequence, recordedAt }: LinkPlace): string {
  return recordedAt.toString(16).padStart(12, '0') + hex(sequence) + chainId.slice(-CHAIN_LENGTH)
}

/** Returns the start of the hour that a time belongs to. All links of a chain have the same one. */
export function chainStart(time: EpochMs): EpochMs {
  return (time - (time % CHAIN_SPAN_MS)) as EpochMs
}

/** Returns the parts that a link's keyed digest covers. The events, kilobytes in a busy commit, are covered by their SHA-256. */
export function auditLinkParts({
  previousHash,
  chainId,
  sequence,
  recordedAt,
  events,
}: LinkContent): readonly string[] {
  return [previousHash, chainId, String(sequence), String(recordedAt), hash('sha256', events, 'base64url')]
}

function hex(sequence: number): string {
  return sequence.toString(16).padStart(SEQUENCE_LENGTH, '0')
}

/** Parses the events of a link, also of a link that was changed. `verifyAudit` reports changes. */
export function readEvents({ events: text }: Pick<LinkContent, 'events'>): readonly { readonly event: string }[] {
  const events = parseJson(text)
  const isValid =
    Array.isArray(events) &&
    events.every((one) => typeof (one as { readonly event?: unknown } | null)?.event === 'string')
  return isValid ? events : [{ event: 'audit.unreadable' }]
}
