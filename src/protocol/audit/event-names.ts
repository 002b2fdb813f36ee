import { ACCOUNT_EVENT_TEXTS } from './account-events.ts'
import { PROVIDER_EVENT_TEXTS, type EventText } from './provider-events.ts'
import { SERVER_EVENT_TEXTS } from './server-events.ts'

/** Every event that the audit records. The log has most of them too, under the same name. */
export const AUDIT_EVENT_TEXTS = {
  'client.registered': {
    when: 'A client registered. Registering a public client again with the same metadata returns the existing client and is no event.',
    details:
      '`shared`: true for a public client that any caller can register again; `initial_token`: the id of the initial access token that it registered with',
  },
  'client.updated': {
    when: "The client's metadata changed (RFC 7592).",
    details:
      '`identity_changed`: the name or a host of a redirect or logout URI changed, so that users may not recognise the client',
  },
  'client.document-added': {
    when: 'A metadata document was fetched for the first time, and its client stored.',
    details: '`url`: of the document, which is the `client_id`',
  },
  'client.document-changed': {
    when: 'A metadata document that was fetched again has other content.',
    details:
      '`identity_changed`: as for `client.updated`; `tokens_revoked`: the client no longer authenticates, so its tokens were revoked',
  },
  'client.created': { when: 'An administrator created the client.' },
  'client.adopted': { when: 'An administrator made a registered client one of the operator.' },
  'client.rules-set': { when: 'The rules of a client were replaced.', details: 'the rules' },
  'client.registration-token-created': {
    when: 'An administrator replaced the registration access token of a client.',
  },
  'client.deleted': {
    when: 'The client or an administrator deleted the client. Sweeps of clients that never got a token are no event.',
  },
  'client.verified': { when: 'An administrator marked the client as verified.' },
  'client.unverified': { when: 'The client is no longer verified.' },
  'client.disabled': { when: "The client's credentials and tokens stopped working." },
  'client.enabled': { when: 'The client works again.' },
  'client.secret-rotated': { when: 'The client got a new secret.' },
  'client.scope-approved': { when: 'The scopes that are approved for the client were replaced.', details: '`scope`' },
  'client.tokens-revoked': { when: 'All tokens of the client were revoked.' },
  'client.authentication-failed': {
    when: 'The client presented a wrong secret, or an assertion that its keys do not verify or that was used before. Unknown client ids are no event. Counted.',
  },
  'authorization.approved': {
    when: 'A user approved the authorization, now or by a remembered consent.',
    details: '`authorization`',
  },
  'authorization.denied': {
    when: 'A user denied the authorization, or it was refused for the user.',
    details: '`authorization`',
  },
  'scope.refused': {
    when: 'A request was refused because of its scopes ([apis.md](apis.md)). Counted.',
    details:
      '`reason`, and the scopes by reason (`not_declared`, `not_registered`, …), at most three of each reason and 40 characters of each; or `apis`, at most three',
  },
  'code.replayed': {
    when: 'A redeemed code was presented again. What it issued is revoked. Further attempts are no event.',
    details: '`authorization`',
  },
  'code.burned': { when: 'The code came with a wrong verifier and was invalidated.', details: '`authorization`' },
  'code.presented-by-another-client': { when: 'The code belongs to another client. Nothing changed. Counted.' },
  'refresh-token.reused': {
    when: 'A rotated refresh token was presented again: a copy of it exists. Its family is revoked.',
    details: '`generation`',
  },
  'refresh-token.presented-by-another-client': {
    when: 'The refresh token belongs to another client. Nothing changed. Counted.',
  },
  'revocation.requested-by-another-client': {
    when: 'A client asked to revoke a token of another client. Nothing changed. Counted.',
  },
  'grant.revoked': { when: 'A grant and everything issued on it were revoked.' },
  'token.revoked': {
    when: 'One access token was revoked. More than 20 a minute of one unverified client are counted.',
    details: '`token`: its `jti`; absent where it is counted',
  },
  'introspection.inactive': {
    when: 'An API asked about a token that was revoked, or whose user, client or organization was disabled or deleted or had its tokens revoked. Expired tokens and texts that are no token are no event. Counted.',
    details: '`resource`, `reason`',
  },
  'tokens.issued': {
    when: 'How many tokens a client got in one minute (see below).',
    details: '`minute`, and a count for each grant type',
  },
  ...ACCOUNT_EVENT_TEXTS,
  'server.tokens-revoked': { when: 'All sessions and tokens of the server were revoked.' },
  'organization.created': {},
  'organization.renamed': {},
  'organization.disabled': {},
  'organization.enabled': { when: 'Tokens from before stay invalid.' },
  'organization.tokens-revoked': { when: 'All tokens of the organization were revoked.' },
  'organization.deleted': {},
  'member.added': {},
  'member.disabled': {},
  'member.enabled': { when: 'Tokens from before stay invalid.' },
  'member.removed': {},
  'installation.added': { when: 'A client was installed for an organization.', details: '`scope`, `acts_for_members`' },
  'installation.replaced': {
    when: 'The installation replaced an earlier one.',
    details: '`scope`, `acts_for_members`',
  },
  'installation.disabled': {},
  'installation.enabled': { when: 'Tokens from before stay invalid.' },
  'installation.removed': {},
  'api.created': { details: '`resource`' },
  'api.updated': { details: '`resource`' },
  'api.credentials-set': { when: 'The API got new credentials.', details: '`resource`' },
  'api.deleted': { details: '`resource`' },
  ...PROVIDER_EVENT_TEXTS,
  'domain.trusted': { when: 'A domain is trusted from now on.', details: '`pattern`' },
  'domain.blocked': { when: 'A domain is blocked from now on.', details: '`pattern`' },
  'domain.forgotten': { when: 'A domain is neither trusted nor blocked any more.', details: '`pattern`' },
  'key.added': { when: 'A signing key was created.', details: '`key`' },
  'key.removed': { when: 'A signing key was removed.', details: '`key`' },
  'secret.rotated': {
    when: 'The root secret was changed.',
    details: '`leaked`: whether everything that was issued ended with it',
  },
  'clock.confirmed': {
    when: 'The operator confirmed the clock of a server with a SQLite file.',
    details: '`clock`: what it showed, in milliseconds since the epoch',
  },
  ...SERVER_EVENT_TEXTS,
  'initial-token.created': {
    when: 'An administrator created an initial access token.',
    details: '`initial_token`, `uses`, `trust_level`',
  },
  'initial-token.revoked': { details: '`initial_token`' },
  'admin-credential.created': { details: '`credential`, `access`' },
  'admin-credential.revoked': { details: '`credential`' },
  'admin.refused': { when: 'The administration refused a request of known credentials. Counted.', details: '`reason`' },
  'audit.head': {
    when: 'The last link of another chain (see below).',
    details: '`chain`, `sequence`, `hash`, `recorded_at`',
  },
  'audit.swept': { when: 'Links older than the retention time were removed.', details: '`before`, `links`' },
  'audit.unreadable': {
    when: 'Listed in place of a link whose events are not readable; `audit verify` reports the link.',
  },
} as const satisfies Readonly<Record<string, EventText>>

export type AuditEventName = keyof typeof AUDIT_EVENT_TEXTS
export const AUDIT_EVENTS = Object.keys(AUDIT_EVENT_TEXTS) as readonly AuditEventName[]

/** Every other event that the log or the label `outcome` of a metric has. */
export type LogEventName =
  | 'admin.not-listening'
  | 'audit.recording-failed'
  | 'authorization.refused'
  | 'authorization.repeated'
  | 'client.document-unacceptable'
  | 'client.document-unavailable'
  | 'client.keys-unavailable'
  | 'client.registration-repeated'
  | 'clock.agrees'
  | 'clock.comparison-failed'
  | 'clock.differs'
  | 'configuration.warning'
  | 'forwarded-address.ignored'
  | 'forwarded-address.unreadable'
  | 'host-sign-in.failed'
  | 'key.read-failed'
  | 'key.rotation-failed'
  | 'logout.delivery-failed'
  | 'logout.postponed'
  | 'page.redirected-to-issuer'
  | 'request.refused'
  | 'secret.replaced'
  | 'server.ready'
  | 'server.stopped'
  | 'sign-in.refused'
  | 'store.accepts-writes'
  | 'store.answered'
  | 'store.closed'
  | 'store.memory-failed'
  | 'store.of-other-issuer'
  | 'store.refuses-writes'
  | 'store.sweep-failed'
  | 'store.swept'
  | 'store.unavailable'
  | 'store.went-back'
  | 'token.issued'
  | 'traces.export-failed'
  | 'traces.export-resumed'
  | 'user.exported'
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
