import type { AuditEvent, AuditLinkRecord } from '../ports/records/audit.ts'
import { parseJson } from '../base/json.ts'

/** Parses the events of a link, also of a link that was changed. `verifyAudit` reports changes. */
export function readEvents({ events: text }: Pick<AuditLinkRecord, 'events'>): readonly AuditEvent[] {
  const events = parseJson(text)
  const isValid = Array.isArray(events) && events.every((one) => typeof (one as AuditEvent | null)?.event === 'string')
  return isValid ? (events as readonly AuditEvent[]) : [{ event: 'audit.unreadable' }]
}
