import { capitalized, say, eventWords, type SaidEvent, type Sentence } from './sentence.ts'
import { CLIENT_EVENTS } from './events/client.ts'
import { ORGANIZATION_EVENTS } from './events/organization.ts'
import { PROVIDER_EVENTS } from './events/provider.ts'
import { SERVER_EVENTS } from './events/server.ts'
import { TOKEN_EVENTS } from './events/token.ts'
import { USER_EVENTS } from './events/user.ts'

/** Every event that the audit records. The log has most of them too, under the same name. */
export const AUDIT_EVENT_TEXTS = {
  ...CLIENT_EVENTS,
  ...TOKEN_EVENTS,
  ...USER_EVENTS,
  ...ORGANIZATION_EVENTS,
  ...PROVIDER_EVENTS,
  ...SERVER_EVENTS,
} as const

/** What happened, for a person: `names` has those of the ids. An event of another version is its name. */
export function sentenceOf(
  event: SaidEvent & { readonly event: string },
  names: Readonly<Record<string, string>>,
): Sentence {
  const { event: name } = event
  return isAuditEvent(name) ? capitalized(AUDIT_EVENT_TEXTS[name].says(eventWords(event, names))) : say`${name}`
}

export type AuditEventName = keyof typeof AUDIT_EVENT_TEXTS
function isAuditEvent(name: string): name is AuditEventName {
  return Object.hasOwn(AUDIT_EVENT_TEXTS, name)
}

export const AUDIT_EVENTS = Object.keys(AUDIT_EVENT_TEXTS) as readonly AuditEventName[]

/** Every other event that the log or the label `outcome` of a metric has. */
export type LogEventName =
  | 'access.left-out'
  | 'access.would-leave-out'
  | 'admin.not-listening'
  | 'api.of-issuer'
  | 'audit.recording-failed'
  | 'authorization.pushed'
  | 'authorization.refused'
  | 'authorization.repeated'
  | 'client.document-unacceptable'
  | 'client.document-unavailable'
  | 'client.keys-unavailable'
  | 'device.started'
  | 'client.registration-repeated'
  | 'client.redirect-not-allowed'
  | 'client.secret-upgrade-failed'
  | 'clock.agrees'
  | 'clock.comparison-failed'
  | 'clock.differs'
  | 'configuration.warning'
  | 'forwarded-address.ignored'
  | 'forwarded-address.missing'
  | 'forwarded-address.unreadable'
  | 'groups.left-out'
  | 'host-sign-in.failed'
  | 'key.read-failed'
  | 'key.rotation-failed'
  | 'logout.delivery-failed'
  | 'logout.postponed'
  | 'mail.delivery-failed'
  | 'mail.postponed'
  | 'mail.withheld'
  | 'page.redirected-to-issuer'
  | 'request.refused'
  | 'secret.replaced'
  | 'server.ready'
  | 'server.start-failed'
  | 'server.stopped'
  | 'sign-in.refused'
  | 'store.accepts-writes'
  | 'store.answered'
  | 'store.closed'
  | 'store.memory-failed'
  | 'store.of-other-issuer'
  | 'store.refuses-writes'
  | 'store.count-failed'
  | 'store.index-failed'
  | 'store.sweep-failed'
  | 'store.swept'
  | 'store.unavailable'
  | 'store.went-back'
  | 'token.issued'
  | 'traces.export-failed'
  | 'traces.export-resumed'
  | 'user.exported'
  | 'user.password-upgrade-failed'
  | 'worker.ended'
  | 'worker.stuck'
  /** `<endpoint>.answered`: an answer of an endpoint that has no event of its own. */
  | `${string}.answered`

export type EventName = AuditEventName | LogEventName

/** An event and whatever else a line of the log says about it. */
export type EventFields = Named | (Named & Readonly<Record<string, unknown>>)
interface Named {
  readonly event: EventName
}
