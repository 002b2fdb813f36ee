import type { Context } from '../../ports/context.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { toSeconds } from '../../base/brand.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { describeUserClaims, type UserClaim } from '../../protocol/openid/user-claims.ts'

/** Returns these claims of a user, and the organization that the grant is for. OpenID Connect Core 1.0 §5.1, decision 0005. */
export async function findUserClaims(
  { store }: Context,
  user: UserRecord,
  claims: readonly UserClaim[],
  organizationId: OrganizationId | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const { email, emailVerifiedAt, name, profile, updatedAt } = user
  const described = {
    email,
    isEmailVerified: emailVerifiedAt !== undefined,
    name,
    profile,
    updatedAt: toSeconds(updatedAt),
  }
  const organization = organizationId === undefined ? undefined : await store.findOrganization(organizationId)
  return {
    ...describeUserClaims(described, claims),
    ...(organization === undefined ? {} : { org_id: organization.id, org_name: organization.name }),
  }
}
