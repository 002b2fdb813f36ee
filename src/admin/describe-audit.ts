import type { AuditEntry } from './audit.ts'
import type { AuditFault } from './verify-audit.ts'

/** An event, as JSON shows it. */
export function describeEntry(entry: AuditEntry) {
  const { id, recordedAt, event, clientId, userId, organizationId, grantId, actor, details } = entry
  return {
    id,
    recorded_at: new Date(recordedAt).toISOString(),
    event,
    client_id: clientId ?? null,
    user_id: userId ?? null,
    organization_id: organizationId ?? null,
    grant_id: grantId ?? null,
    actor: actor ?? null,
    details: details ?? {},
  }
}

/** A fault, as JSON shows it. */
export function describeFault(fault: AuditFault) {
  const { kind, link, chain, sequence, through } = fault
  return { kind, link: link ?? null, chain, sequence, through, what: sentenceOf(fault) }
}

/** A fault in words. */
function sentenceOf({ kind, link, chain, sequence, through }: AuditFault): string {
  switch (kind) {
    case 'changed':
      return `Link ${link ?? ''} was changed (chain ${chain}, sequence ${sequence}).`
    case 'missing':
      return `Chain ${chain} lacks ${rangeOf(sequence, through)}.`
    case 'cut-off':
      return `Chain ${chain} was cut off: ${rangeOf(sequence, through)} was there and is not.`
    case 'chain-missing':
      return `Chain ${chain} is gone: ${rangeOf(sequence, through)} was there and is not.`
  }
}

function rangeOf(first: number, last: number): string {
  return first === last ? `sequence ${first}` : `sequence ${first} to ${last}`
}
