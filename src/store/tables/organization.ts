import { bigint, table, text, disabling } from '../table.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'

export const ORGANIZATIONS = table<OrganizationRecord>({
  id: text('organization_id'),
  name: text('name'),
  createdAt: bigint('created_at'),
  ...disabling,
})
