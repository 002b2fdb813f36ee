import { bigint, flag, table, text, disabling } from '../table.ts'
import type { InstallationRecord, OrganizationRecord } from '../../ports/records/organization.ts'

export const ORGANIZATIONS = table<OrganizationRecord>({
  id: text('organization_id'),
  name: text('name'),
  createdAt: bigint('created_at'),
  ...disabling,
})

export const INSTALLATIONS = table<InstallationRecord>({
  clientId: text('client_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  actsForMembers: flag('acts_for_members'),
  createdAt: bigint('created_at'),
  ...disabling,
})
