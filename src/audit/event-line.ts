import type { AuditEvent } from '../ports/records/audit.ts'
import type { EventFields } from '../protocol/audit/event-names.ts'

/** An event of the audit as a line of the log. */
export function eventLine({
  event,
  clientId,
  userId,
  organizationId,
  grantId,
  actor,
  requestId,
  details,
}: AuditEvent): EventFields {
  return {
    event,
    client: clientId,
    user: userId,
    organization: organizationId,
    grant: grantId,
    actor,
    request_id: requestId,
    ...details,
  }
}
