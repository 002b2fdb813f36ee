/** Every event that the audit records; docs/audit.md explains each. The log has most of them too, under the same name. */
export const AUDIT_EVENTS = [
  'client.registered',
  'client.updated',
  'client.deleted',
  'client.verified',
  'client.unverified',
  'client.disabled',
  'client.enabled',
  'client.secret-rotated',
  'client.scope-approved',
  'client.tokens-revoked',
  'client.authentication-failed',
  'authorization.approved',
  'authorization.denied',
  'scope.refused',
  'code.replayed',
  'code.burned',
  'code.presented-by-another-client',
  'refresh-token.reused',
  'refresh-token.presented-by-another-client',
  'revocation.requested-by-another-client',
  'grant.revoked',
  'token.revoked',
  'introspection.inactive',
  'tokens.issued',
  'session.started',
  'sign-in.failed',
  'user.created',
  'user.password-changed',
  'user.disabled',
  'user.enabled',
  'user.deleted',
  'user.tokens-revoked',
  'server.tokens-revoked',
  'organization.created',
  'organization.renamed',
  'organization.disabled',
  'organization.enabled',
  'organization.tokens-revoked',
  'organization.deleted',
  'member.added',
  'member.disabled',
  'member.enabled',
  'member.removed',
  'installation.added',
  'installation.replaced',
  'installation.disabled',
  'installation.enabled',
  'installation.removed',
  'api.created',
  'api.updated',
  'api.credentials-set',
  'api.deleted',
  'key.added',
  'key.removed',
  'clock.confirmed',
  'admin-credential.created',
  'admin-credential.revoked',
  'admin.refused',
  'audit.head',
  'audit.swept',
  'audit.unreadable',
] as const

/** Every other event that the log or the label `outcome` of a metric has. */
export type LogEventName =
  | 'admin.not-listening'
  | 'audit.recording-failed'
  | 'authorization.refused'
  | 'authorization.repeated'
  | 'client.registration-repeated'
  | 'clock.agrees'
  | 'clock.comparison-failed'
  | 'clock.differs'
  | 'configuration.warning'
  | 'forwarded-address.ignored'
  | 'forwarded-address.unreadable'
  | 'key.read-failed'
  | 'key.rotation-failed'
  | 'page.redirected-to-issuer'
  | 'request.refused'
  | 'server.ready'
  | 'server.stopped'
  | 'session.ended'
  | 'sign-in.refused'
  | 'store.sweep-failed'
  | 'store.swept'
  | 'store.unavailable'
  | 'token.issued'
  | 'traces.export-failed'
  | 'traces.export-resumed'
  | 'worker.ended'
  /** `<endpoint>.answered`: an answer of an endpoint that has no event of its own. */
  | `${string}.answered`

export type AuditEventName = (typeof AUDIT_EVENTS)[number]
export type EventName = AuditEventName | LogEventName

/** An event and whatever else a line of the log says about it. */
export type EventFields = Named | (Named & Readonly<Record<string, unknown>>)
interface Named {
  readonly event: EventName
}

/** What stored events of earlier releases are called today. */
const FORMER_NAMES: ReadonlyMap<string, AuditEventName> = new Map([
  ['client.shared', 'client.registered'],
  ['client.expired', 'client.tokens-revoked'],
  ['user.expired', 'user.tokens-revoked'],
  ['organization.expired', 'organization.tokens-revoked'],
  ['everything.expired', 'server.tokens-revoked'],
  ['refresh.reused', 'refresh-token.reused'],
  ['refresh.presented-by-another-client', 'refresh-token.presented-by-another-client'],
  ['revocation.by-another-client', 'revocation.requested-by-another-client'],
  ['api.declared', 'api.created'],
])

/** The name of today for the event of a stored row. A name that no release has used is returned as it is. */
export function currentEventName(stored: string): string {
  return FORMER_NAMES.get(stored) ?? stored
}
