import { idOf, type NounOperations, when } from '../noun.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import { isChosenId, type OrganizationId } from '../../protocol/ids.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'

/** The rows of OPERATIONS for organizations, their members and their installed clients. */
export const ORGANIZATION_OPERATIONS = {
  // A chosen id may be that of an organization that was deleted, of which something may be left.
  createOrganization: {
    cache: ({ id }) => (isChosenId(id) ? undefined : organizationKey(id)),
    event: when('created', aboutOrganization('organization.created')),
  },
  renameOrganization: { cache: keyOfInput, event: when('changed', aboutOrganization('organization.renamed')) },
  disableOrganization: { cache: keyOfInput, event: when('changed', aboutOrganization('organization.disabled')) },
  enableOrganization: { cache: keyOfInput, event: when('changed', aboutOrganization('organization.enabled')) },
  revokeOrganizationTokens: {
    cache: keyOfInput,
    event: when('changed', aboutOrganization('organization.tokens-revoked')),
  },
  deleteOrganization: { cache: 'cleared', event: when('deleted', aboutOrganization('organization.deleted')) },
} satisfies NounOperations

/**
 * The cache key of an organization. A user and an organization may have one chosen id. The key of no other record begins with a space.
 */
export function organizationKey(id: OrganizationId): string {
  return ` ${id}`
}

function keyOfInput(input: OrganizationId | { readonly id: OrganizationId }): string {
  return organizationKey(idOf(input))
}

function aboutOrganization(event: AuditEventName) {
  return (input: OrganizationId | { readonly id: OrganizationId }): AuditEvent => ({
    event,
    organizationId: idOf(input),
  })
}
