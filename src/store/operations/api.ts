import { differences, type NounOperations, when } from '../noun.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { Input } from '../../ports/operations/index.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'

/** The rows of OPERATIONS for APIs. */
export const API_OPERATIONS = {
  declareApi: { cache: 'kept', event: when('declared', aboutApi('api.created')) },
  updateApi: { cache: 'kept', event: when('changed', aboutUpdate) },
  setApiCredentials: { cache: 'kept', event: when('changed', aboutApi('api.credentials-set')) },
  deleteApi: { cache: 'kept', event: when('deleted', (resource) => aboutApi('api.deleted')({ resource })) },
} satisfies NounOperations

function aboutUpdate({ previous, api }: Input<'updateApi'>): AuditEvent {
  const { event, details } = aboutApi('api.updated')(api)
  const [before, now] = [previous, api].map(
    ({ exchange }) => new Map(exchange.map((rule) => [rule.resource, rule.scope])),
  )
  const changed = api.exchange.filter(({ resource, scope }) => (before?.get(resource) ?? scope) !== scope)
  return {
    event,
    details: {
      ...details,
      ...differences('exchange_from', [...(before?.keys() ?? [])], [...(now?.keys() ?? [])]),
      ...(changed.length > 0 && { exchange_from_changed: changed.map(({ resource }) => resource).join(' ') }),
    },
  }
}

function aboutApi(event: AuditEventName) {
  return ({ resource }: { readonly resource: string }): AuditEvent => ({ event, details: { resource } })
}
