import type { AuditEvent } from '../ports/records/audit.ts'
import type { InstallationKey, MembershipKey } from '../ports/operation-inputs.ts'
import type { OperationName } from '../ports/operations.ts'
import type { AuditEventName } from '../protocol/audit/event-names.ts'
import type { OrganizationId } from '../protocol/ids.ts'
import { ACCOUNT_OPERATIONS } from './account-operation-table.ts'
import { aboutClient, idOf, when, type OperationRow } from './operation-row.ts'
import { IDENTITY_OPERATIONS } from './identity-operation-table.ts'
import { OPERATOR_OPERATIONS } from './operator-operation-table.ts'

/** Every operation of the store. A new operation does not compile until it has a row here and a handler in each store. */
export const OPERATIONS: { readonly [Name in OperationName]: OperationRow<Name> } = {
  registerClient: { cache: 'kept', event: aboutClient('client.registered') },
  registerWithToken: {
    cache: 'kept',
    event: when('registered', ({ client, tokenId }) => ({
      event: 'client.registered',
      clientId: client.id,
      details: { initial_token: tokenId },
    })),
  },
  registerPublicClient: {
    // The time until which a client is kept from being swept is not part of its record.
    cache: 'kept',
    // Registering the same metadata again returns the existing client, which is no event.
    event: ({ client }, { id }) =>
      id === client.id ? { event: 'client.registered', clientId: id, details: { shared: true } } : undefined,
  },
  addDocumentClient: {
    // Also the client that another caller added.
    cache: ({ client }) => client.id,
    event: when('added', ({ client: { id, document } }) => ({
      event: 'client.document-added',
      clientId: id,
      details: { url: document.url },
    })),
  },
  renewDocument: {
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom, notBefore }, outcome) =>
      outcome === 'renewed' && JSON.stringify(previous.metadata) !== JSON.stringify(metadata)
        ? {
            event: 'client.document-changed',
            clientId: id,
            details: { identity_changed: identityFrom !== undefined, tokens_revoked: notBefore !== undefined },
          }
        : undefined,
  },
  useClient: { cache: idOf, event: 'no-event' },
  extendRetention: { cache: 'kept', event: 'no-event' },
  updateClient: {
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom }, outcome) =>
      outcome === 'updated' && JSON.stringify(previous) !== JSON.stringify(metadata)
        ? { event: 'client.updated', clientId: id, details: { identity_changed: identityFrom !== undefined } }
        : undefined,
  },
  deleteClient: { cache: 'cleared', event: when('deleted', aboutClient('client.deleted')) },
  verifyClient: { cache: idOf, event: when('changed', aboutClient('client.verified')) },
  unverifyClient: { cache: idOf, event: when('changed', aboutClient('client.unverified')) },
  disableClient: { cache: idOf, event: when('changed', aboutClient('client.disabled')) },
  enableClient: { cache: idOf, event: when('changed', aboutClient('client.enabled')) },
  rotateClientSecret: { cache: idOf, event: when('rotated', aboutClient('client.secret-rotated')) },
  approveClientScope: {
    cache: idOf,
    event: when('changed', ({ id, scope }) => ({
      event: 'client.scope-approved',
      clientId: id,
      details: { scope },
    })),
  },
  revokeClientTokens: { cache: idOf, event: when('changed', aboutClient('client.tokens-revoked')) },
  // No decision depends on when a client was last used.
  noteUses: { cache: 'kept', event: 'no-event' },

  startAuthorization: { cache: 'kept', event: 'no-event' },
  approveAuthorization: {
    cache: 'kept',
    event: when('approved', ({ id, userId, organizationId, about }) => ({
      event: 'authorization.approved',
      ...about,
      userId,
      organizationId,
      details: { authorization: id },
    })),
  },
  denyAuthorization: {
    cache: 'kept',
    event: when('denied', ({ id, about }) => ({
      event: 'authorization.denied',
      ...about,
      details: { authorization: id },
    })),
  },
  redeemCode: {
    cache: 'kept',
    // A token that is issued normally is counted instead (tokens.issued).
    event: when('replayed', ({ grant: { id, clientId, userId, organizationId } }) => ({
      event: 'code.replayed',
      clientId,
      userId,
      organizationId,
      details: { authorization: id },
    })),
  },
  burnCode: {
    cache: 'kept',
    event: when('burned', ({ id, about }) => ({ event: 'code.burned', ...about, details: { authorization: id } })),
  },
  rotateRefreshToken: {
    cache: 'kept',
    event: ({ grantId, generation, about }, { kind }) =>
      kind === 'reused' ? { event: 'refresh-token.reused', ...about, grantId, details: { generation } } : undefined,
  },
  revokeGrant: {
    cache: 'kept',
    event: when('revoked', ({ id, about }) => ({ event: 'grant.revoked', ...about, grantId: id })),
  },
  issueToken: { cache: 'kept', event: 'no-event' },
  revokeToken: {
    cache: 'kept',
    // Without `about`, the endpoint reports the event: the revocations of a client that revokes many tokens are counted (docs/limits.md).
    event: ({ tokenId, about }, outcome) =>
      outcome === 'revoked' && about !== undefined
        ? { event: 'token.revoked', ...about, details: { token: tokenId } }
        : undefined,
  },
  consumeOnce: { cache: 'kept', event: 'no-event' },

  revokeAllTokens: { cache: 'kept', event: () => ({ event: 'server.tokens-revoked' }) },

  createOrganization: { cache: 'kept', event: aboutOrganization('organization.created') },
  renameOrganization: { cache: idOf, event: when('changed', aboutOrganization('organization.renamed')) },
  disableOrganization: { cache: idOf, event: when('changed', aboutOrganization('organization.disabled')) },
  enableOrganization: { cache: idOf, event: when('changed', aboutOrganization('organization.enabled')) },
  revokeOrganizationTokens: { cache: idOf, event: when('changed', aboutOrganization('organization.tokens-revoked')) },
  deleteOrganization: { cache: 'cleared', event: when('deleted', aboutOrganization('organization.deleted')) },
  addMember: { cache: membershipKey, event: when('added', aboutMember('member.added')) },
  disableMember: { cache: membershipKey, event: when('changed', aboutMember('member.disabled')) },
  enableMember: { cache: membershipKey, event: when('changed', aboutMember('member.enabled')) },
  removeMember: { cache: membershipKey, event: when('removed', aboutMember('member.removed')) },
  install: {
    cache: installationKey,
    event: (installation, outcome) => ({
      ...aboutInstallation(outcome === 'installed' ? 'installation.added' : 'installation.replaced')(installation),
      details: { scope: installation.scope, acts_for_members: installation.actsForMembers },
    }),
  },
  disableInstallation: { cache: installationKey, event: when('changed', aboutInstallation('installation.disabled')) },
  enableInstallation: { cache: installationKey, event: when('changed', aboutInstallation('installation.enabled')) },
  uninstall: { cache: installationKey, event: when('removed', aboutInstallation('installation.removed')) },

  ...ACCOUNT_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  countRegistrations: { cache: 'kept', event: 'no-event' },
  countHit: { cache: 'kept', event: 'no-event' },
  forgiveHit: { cache: 'kept', event: 'no-event' },

  ...OPERATOR_OPERATIONS,
  recordEvent: { cache: 'kept', event: (event) => event },
  sweepExpired: {
    cache: 'cleared',
    event: ({ auditBefore }, { auditLinks }) =>
      auditLinks > 0 ? { event: 'audit.swept', details: { before: auditBefore, links: auditLinks } } : undefined,
  },
}

/** The cache key of a membership. */
export function membershipKey({ userId, organizationId }: MembershipKey): string {
  return `${userId} ${organizationId}`
}

/** The cache key of an installation. */
export function installationKey({ clientId, organizationId }: InstallationKey): string {
  return `${clientId} ${organizationId}`
}

function aboutOrganization(event: AuditEventName) {
  return (input: OrganizationId | { readonly id: OrganizationId }): AuditEvent => ({
    event,
    organizationId: idOf(input),
  })
}

function aboutMember(event: AuditEventName) {
  return ({ userId, organizationId }: MembershipKey): AuditEvent => ({ event, userId, organizationId })
}

function aboutInstallation(event: AuditEventName) {
  return ({ clientId, organizationId }: InstallationKey): AuditEvent => ({ event, clientId, organizationId })
}
