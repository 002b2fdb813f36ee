import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { MembershipRecord } from '../../ports/records/organization.ts'
import { isoOrNull, ISO_OR_NULL } from '../../base/iso.ts'

/** A membership as its user has it. `MemberDocument` is as its organization has it. */
export const MEMBERSHIP_DOCUMENT = z
  .object({
    organization_id: z.string(),
    name: z.string().describe('Of the organization.'),
    disabled_at: ISO_OR_NULL.describe('Since when the membership is disabled; null: it is not.'),
  })
  .meta({ id: 'Membership' })

export type MembershipDocument = z.output<typeof MEMBERSHIP_DOCUMENT>

export async function describeMembership(
  { store }: Context,
  { organizationId, disabledAt }: MembershipRecord,
): Promise<MembershipDocument> {
  const { name = '' } = (await store.findOrganization(organizationId)) ?? {}
  return { organization_id: organizationId, name, disabled_at: isoOrNull(disabledAt) }
}
