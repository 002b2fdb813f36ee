import type { Context } from '../../ports/context.ts'
import type { ConsentProblem } from '../../ports/pages/pages.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'

/** An organization that the user is an active member of. */
export interface OwnOrganization {
  readonly id: OrganizationId
  readonly name: string
  /** That of the organization alone. */
  readonly notBefore: EpochMs
  /** Consents for the organization from before this time are ignored. */
  readonly since: EpochMs
}

/** The organizations that a user may act for in an authorization (decision 0005). */
export type OrganizationChoices =
  | OpenChoices
  /** The client named an organization that does not exist, or that the user does not belong to. */
  | { readonly kind: 'not-a-member' }

export type OpenChoices =
  /** The client named this organization. */
  | { readonly kind: 'fixed'; readonly organization: OwnOrganization }
  /** The user chooses one of these, or none. Sorted by name. */
  | { readonly kind: 'free'; readonly organizations: readonly OwnOrganization[] }

/**
 * Returns the organizations that the user may act for. The store is read for every page and every answer, because a code may
 * be issued for an organization only while it is enabled and the user's membership is (threats.md AUTH-22, UI-02, UI-13).
 */
export async function findChoices(
  context: Context,
  { organizationId }: Pick<AuthorizationRecord, 'organizationId'>,
  userId: UserId,
): Promise<OrganizationChoices> {
  if (organizationId !== undefined) {
    const membership = await context.store.findMembership({ userId, organizationId })
    const organization = await ownOrganization(context, membership)
    return organization === undefined ? { kind: 'not-a-member' } : { kind: 'fixed', organization }
  }
  return { kind: 'free', organizations: await findOrganizations(context, userId) }
}

/** The organizations that the user is an active member of, sorted by name. */
export async function findOrganizations(context: Context, userId: UserId): Promise<readonly OwnOrganization[]> {
  const memberships = await context.store.listMemberships(userId)
  const found = await Promise.all(memberships.map((membership) => ownOrganization(context, membership)))
  const organizations = found.filter((one) => one !== undefined)
  // A fixed locale, so that the order does not depend on the machine.
  return organizations.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

/** The form's value for "without an organization". */
export const WITHOUT = 'none'

/**
 * Returns the organization that the form names, if the user may act for it. If the client named an organization, the form has
 * no influence (threats.md UI-02).
 */
export function chooseOrganization(
  choices: OpenChoices,
  text: string | undefined,
): { readonly organization: OwnOrganization | undefined } | ConsentProblem {
  if (choices.kind === 'fixed') return { organization: choices.organization }
  const { organizations } = choices
  if (text === WITHOUT || (text === undefined && organizations.length === 0)) return { organization: undefined }
  if (text === undefined) return 'organization-missing'
  const organization = organizations.find(({ id }) => id === text)
  return organization === undefined ? 'organization-gone' : { organization }
}

async function ownOrganization(
  { store }: Context,
  membership: MembershipRecord | undefined,
): Promise<OwnOrganization | undefined> {
  if (membership === undefined || membership.disabledAt !== undefined) return undefined
  const organization: OrganizationRecord | undefined = await store.findOrganization(membership.organizationId)
  if (organization === undefined || organization.disabledAt !== undefined) return undefined
  const { id, name, notBefore } = organization
  return { id, name, notBefore, since: Math.max(notBefore, membership.notBefore) as EpochMs }
}
