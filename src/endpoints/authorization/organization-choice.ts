import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'

/** An organization that a person belongs to now. */
export interface OwnOrganization {
  readonly id: OrganizationId
  readonly name: string
  /** What the person allowed for it before this moment counts for nothing. */
  readonly since: EpochMs
}

/** What a person may answer an authorization for (decisions.md D4). */
export type OrganizationChoices =
  /** The client asks for this one. */
  | { readonly kind: 'fixed'; readonly organization: OwnOrganization }
  /** One of these, by name, or none. */
  | { readonly kind: 'free'; readonly organizations: readonly OwnOrganization[] }
  /** The client asks for one that is not theirs, or that does not exist. */
  | { readonly kind: 'not-a-member' }

type Needs = {
  readonly store: Pick<Context['store'], 'findMembership' | 'findOrganization' | 'listMemberships'>
}

/**
 * Read again for every page and every answer: only where the person is a live member of a live organization at that moment
 * may a code speak for it (threats.md AUTH-22, UI-02, UI-13).
 */
export async function findChoices(
  { store }: Needs,
  { organizationId }: Pick<AuthorizationRecord, 'organizationId'>,
  userId: UserId,
): Promise<OrganizationChoices> {
  if (organizationId !== undefined) {
    const membership = await store.findMembership({ userId, organizationId })
    const organization = await ownOrganization({ store }, membership)
    return organization === undefined ? { kind: 'not-a-member' } : { kind: 'fixed', organization }
  }
  const memberships = await store.listMemberships(userId)
  const found = await Promise.all(memberships.map((membership) => ownOrganization({ store }, membership)))
  const organizations = found.filter((one) => one !== undefined)
  // The same for every reader, whatever language this machine speaks.
  return {
    kind: 'free',
    organizations: organizations.toSorted((one, other) => one.name.localeCompare(other.name, 'en')),
  }
}

async function ownOrganization(
  { store }: { readonly store: Pick<Context['store'], 'findOrganization'> },
  membership: MembershipRecord | undefined,
): Promise<OwnOrganization | undefined> {
  if (membership === undefined || membership.disabledAt !== undefined) return undefined
  const organization: OrganizationRecord | undefined = await store.findOrganization(membership.organizationId)
  if (organization === undefined || organization.disabledAt !== undefined) return undefined
  const { id, name, notBefore } = organization
  return { id, name, since: Math.max(notBefore, membership.notBefore) as EpochMs }
}
