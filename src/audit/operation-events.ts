import type { AuditEvent } from '../ports/records/audit.ts'
import type { InstallationKey, MembershipKey } from '../ports/operation-inputs.ts'
import type { Input, Operation, OperationName, Outcome } from '../ports/operations.ts'
import type { AuditEventName } from '../protocol/event-names.ts'
import type { AdminCredentialId, ClientId, OrganizationId, UserId } from '../protocol/ids.ts'

type EventOf<Name extends OperationName> =
  | 'nothing'
  | ((input: Input<Name>, outcome: Outcome<Name>) => AuditEvent | undefined)

/** The audit event of each operation (docs/audit.md). A new operation does not compile until it has an entry here. */
const EVENTS: { readonly [Name in OperationName]: EventOf<Name> } = {
  registerClient: ({ id }) => ({ event: 'client.registered', clientId: id }),
  // Registering the same metadata again returns the existing client, which is no event.
  registerPublicClient: ({ client }, { id }) =>
    id === client.id ? { event: 'client.registered', clientId: id, details: { shared: true } } : undefined,
  useClient: 'nothing',
  extendRetention: 'nothing',
  updateClient: ({ id, previous, metadata, identityFrom }, outcome) =>
    outcome === 'updated' && JSON.stringify(previous) !== JSON.stringify(metadata)
      ? { event: 'client.updated', clientId: id, details: { identity_changed: identityFrom !== undefined } }
      : undefined,
  deleteClient: (id, outcome) => (outcome === 'deleted' ? ofClient('client.deleted', id) : undefined),
  verifyClient: ({ id }, outcome) => changed(outcome, ofClient('client.verified', id)),
  unverifyClient: (id, outcome) => changed(outcome, ofClient('client.unverified', id)),
  disableClient: ({ id }, outcome) => changed(outcome, ofClient('client.disabled', id)),
  enableClient: (id, outcome) => changed(outcome, ofClient('client.enabled', id)),
  rotateClientSecret: ({ id }, outcome) => (outcome === 'rotated' ? ofClient('client.secret-rotated', id) : undefined),
  approveClientScope: ({ id, scope }, outcome) =>
    changed(outcome, { ...ofClient('client.scope-approved', id), details: { scope } }),
  expireClient: ({ id }, outcome) => changed(outcome, ofClient('client.tokens-revoked', id)),
  noteUses: 'nothing',

  startAuthorization: 'nothing',
  approveAuthorization: ({ id, userId, organizationId, about }, outcome) =>
    outcome === 'approved'
      ? { event: 'authorization.approved', ...about, userId, organizationId, details: { authorization: id } }
      : undefined,
  denyAuthorization: ({ id, about }, outcome) =>
    outcome === 'denied' ? { event: 'authorization.denied', ...about, details: { authorization: id } } : undefined,
  // A token that is issued normally is counted instead (tokens.issued).
  redeemCode: ({ id, grant }, outcome) =>
    outcome === 'replayed'
      ? {
          event: 'code.replayed',
          clientId: grant.clientId,
          userId: grant.userId,
          organizationId: grant.organizationId,
          details: { authorization: id },
        }
      : undefined,
  burnCode: ({ id, about }, outcome) =>
    outcome === 'burned' ? { event: 'code.burned', ...about, details: { authorization: id } } : undefined,
  rotateRefreshToken: ({ grantId, generation, about }, { kind }) =>
    kind === 'reused' ? { event: 'refresh-token.reused', ...about, grantId, details: { generation } } : undefined,
  revokeGrant: ({ id, about }, outcome) =>
    outcome === 'revoked' ? { event: 'grant.revoked', ...about, grantId: id } : undefined,
  issueToken: 'nothing',
  // Without `about`, the endpoint reports the event: the revocations of a client that revokes many tokens are counted (docs/limits.md).
  revokeToken: ({ tokenId, about }, outcome) =>
    outcome === 'revoked' && about !== undefined
      ? { event: 'token.revoked', ...about, details: { token: tokenId } }
      : undefined,

  createUser: ({ id }, outcome) => (outcome === 'created' ? ofUser('user.created', id) : undefined),
  setPassword: ({ id }, outcome) => changed(outcome, ofUser('user.password-changed', id)),
  disableUser: ({ id }, outcome) => changed(outcome, ofUser('user.disabled', id)),
  enableUser: ({ id }, outcome) => changed(outcome, ofUser('user.enabled', id)),
  deleteUser: (id, outcome) => (outcome === 'deleted' ? ofUser('user.deleted', id) : undefined),
  expireUser: ({ id }, outcome) => changed(outcome, ofUser('user.tokens-revoked', id)),
  expireEverything: () => ({ event: 'server.tokens-revoked' }),

  createOrganization: ({ id }) => ofOrganization('organization.created', id),
  renameOrganization: ({ id }, outcome) => changed(outcome, ofOrganization('organization.renamed', id)),
  disableOrganization: ({ id }, outcome) => changed(outcome, ofOrganization('organization.disabled', id)),
  enableOrganization: ({ id }, outcome) => changed(outcome, ofOrganization('organization.enabled', id)),
  expireOrganization: ({ id }, outcome) => changed(outcome, ofOrganization('organization.tokens-revoked', id)),
  deleteOrganization: (id, outcome) => (outcome === 'deleted' ? ofOrganization('organization.deleted', id) : undefined),
  addMember: (member, outcome) => (outcome === 'added' ? ofMember('member.added', member) : undefined),
  disableMember: (member, outcome) => changed(outcome, ofMember('member.disabled', member)),
  enableMember: (member, outcome) => changed(outcome, ofMember('member.enabled', member)),
  removeMember: (member, outcome) => (outcome === 'removed' ? ofMember('member.removed', member) : undefined),
  install: (installation, outcome) => ({
    ...ofInstallation(outcome === 'installed' ? 'installation.added' : 'installation.replaced', installation),
    details: { scope: installation.scope, acts_for_members: installation.actsForMembers },
  }),
  disableInstallation: (key, outcome) => changed(outcome, ofInstallation('installation.disabled', key)),
  enableInstallation: (key, outcome) => changed(outcome, ofInstallation('installation.enabled', key)),
  uninstall: (key, outcome) => (outcome === 'removed' ? ofInstallation('installation.removed', key) : undefined),

  startSession: ({ session }) => ofUser('session.started', session.userId),
  endSession: 'nothing',
  countHit: 'nothing',
  forgiveHit: 'nothing',

  declareApi: ({ resource }, outcome) => (outcome === 'declared' ? ofApi('api.created', resource) : undefined),
  updateApi: ({ api: { resource } }, outcome) => (outcome === 'changed' ? ofApi('api.updated', resource) : undefined),
  setApiCredentials: ({ resource }, outcome) => changed(outcome, ofApi('api.credentials-set', resource)),
  deleteApi: (resource, outcome) => (outcome === 'deleted' ? ofApi('api.deleted', resource) : undefined),
  addFirstKey: ({ id }, first) => (first.id === id ? { event: 'key.added', details: { key: id } } : undefined),
  addKey: ({ key }, outcome) => (outcome === 'added' ? { event: 'key.added', details: { key: key.id } } : undefined),
  removeKey: ({ id }, outcome) => (outcome === 'removed' ? { event: 'key.removed', details: { key: id } } : undefined),
  noteServerAlgorithm: 'nothing',
  noteClock: 'nothing',
  confirmClock: ({ now }) => ({ event: 'clock.confirmed', details: { clock: now } }),
  insertSettingOnce: 'nothing',
  createAdminCredential: ({ id, access, organizationId }) => ({
    ...ofAdminCredential('admin-credential.created', id, access),
    organizationId,
  }),
  revokeAdminCredential: ({ id }, outcome) => changed(outcome, ofAdminCredential('admin-credential.revoked', id)),
  recordEvent: (event) => event,
  sweepExpired: ({ auditBefore }, { auditLinks }) =>
    auditLinks > 0 ? { event: 'audit.swept', details: { before: auditBefore, links: auditLinks } } : undefined,
}

/** Returns the audit events of a batch of operations, in the order of the batch. Operations without an event are left out. */
export function auditEvents(operations: readonly Operation[], outcomes: readonly unknown[]): readonly AuditEvent[] {
  const events: AuditEvent[] = []
  for (const [index, { name, input, by }] of operations.entries()) {
    const eventOf = EVENTS[name] as EventOf<OperationName>
    if (eventOf === 'nothing') continue
    const event = (eventOf as (input: unknown, outcome: unknown) => AuditEvent | undefined)(input, outcomes[index])
    if (event !== undefined) events.push(by === undefined ? event : { ...event, actor: by })
  }
  return events
}

function changed(outcome: 'changed' | 'unknown', event: AuditEvent): AuditEvent | undefined {
  return outcome === 'changed' ? event : undefined
}

function ofClient(event: AuditEventName, clientId: ClientId): AuditEvent {
  return { event, clientId }
}

function ofUser(event: AuditEventName, userId: UserId): AuditEvent {
  return { event, userId }
}

function ofOrganization(event: AuditEventName, organizationId: OrganizationId): AuditEvent {
  return { event, organizationId }
}

function ofMember(event: AuditEventName, { userId, organizationId }: MembershipKey): AuditEvent {
  return { event, userId, organizationId }
}

function ofInstallation(event: AuditEventName, { clientId, organizationId }: InstallationKey): AuditEvent {
  return { event, clientId, organizationId }
}

function ofApi(event: AuditEventName, resource: string): AuditEvent {
  return { event, details: { resource } }
}

function ofAdminCredential(event: AuditEventName, credential: AdminCredentialId, access?: string): AuditEvent {
  return { event, details: access === undefined ? { credential } : { credential, access } }
}
