import { type OperationRows, when } from './row.ts'
import type { ApiOperations } from '../../ports/operations/api.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'

/** The rows of OPERATIONS for APIs. */
export const API_OPERATIONS: OperationRows<ApiOperations> = {
  declareApi: { cache: 'kept', event: when('declared', aboutApi('api.created')) },
  updateApi: { cache: 'kept', event: when('changed', ({ api }) => aboutApi('api.updated')(api)) },
  setApiCredentials: { cache: 'kept', event: when('changed', aboutApi('api.credentials-set')) },
  deleteApi: { cache: 'kept', event: when('deleted', (resource) => aboutApi('api.deleted')({ resource })) },
}

function aboutApi(event: AuditEventName) {
  return ({ resource }: { readonly resource: string }): AuditEvent => ({ event, details: { resource } })
}
