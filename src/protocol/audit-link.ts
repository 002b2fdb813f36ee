import { hash } from 'node:crypto'
import type { EpochMs } from './brand.ts'

/** The part of a link of the audit that stands in its id. */
export interface LinkPlace {
  readonly chainId: string
  /** From 0, without a gap. */
  readonly sequence: number
  readonly recordedAt: EpochMs
}

/** Everything that a link's hash covers. */
export interface LinkContent extends LinkPlace {
  /** Of the link before; '' at the start. */
  readonly previousHash: string
  readonly events: string
}

/** A chain ends with the hour in which it began, so that a sweep of whole hours takes whole chains. */
const CHAIN_SPAN_MS = 60 * 60 * 1000

const SEQUENCE_LENGTH = 8
const CHAIN_LENGTH = 14

/**
 * Ordered by time and, in a chain, by sequence; it follows from the rest of the link, so a link has one id. As long as other
 * time-ordered ids: 12 hex digits of milliseconds, 8 of the sequence, 84 bits of the chain.
 */
export function auditLinkId({ chainId, sequence, recordedAt }: LinkPlace): string {
  return recordedAt.toString(16).padStart(12, '0') + hex(sequence) + chainId.slice(-CHAIN_LENGTH)
}

/** The first moment of the hour whose chains have links of this moment. */
export function chainStart(moment: EpochMs): EpochMs {
  return (moment - (moment % CHAIN_SPAN_MS)) as EpochMs
}

/** What a link's hash is a keyed digest of. Its events, of which a busy commit has kilobytes, stand there by their SHA-256. */
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
