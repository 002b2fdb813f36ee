import { MAXIMA } from '../../base/maxima.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import type { ProviderId } from '../sign-in/authentication.ts'
import { type GroupId, type MemberSource, organizationOfGroup, sourceOfProvider } from './group.ts'
import { namesGroup } from './provider-groups.ts'

/** That a source says a user is in a group. */
export interface GroupMembership {
  readonly groupId: GroupId
  readonly source: MemberSource
  readonly createdAt: EpochMs
  /** undefined: it has no end. */
  readonly expiresAt: EpochMs | undefined
}

/** What a user belongs to, as it is stored. */
export interface Belonging {
  readonly userId: UserId
  /** Also those that no longer count. */
  readonly groups: readonly GroupMembership[]
  /** Of the memberships that are not disabled. */
  readonly organizationIds: readonly OrganizationId[]
}

/** What says which groups count. */
export interface GroupCircumstances {
  readonly now: EpochMs
  readonly providers: readonly {
    readonly id: ProviderId
    readonly createdAt: EpochMs
    readonly disabledAt: EpochMs | undefined
    /** The list of the provider, which names the groups that it may say. */
    readonly settings: { readonly groups: readonly string[] }
  }[]
  /** The organization of the grant, which is enabled; undefined: none. */
  readonly organizationId: OrganizationId | undefined
}

/**
 * The groups of a user that count, sorted, each once: those of the server, and those of the organization while the user is an active member. A row
 * counts until its end, and one of a provider while the provider is enabled and its list names the group, and only if it is not older than the
 * provider, whose id an earlier one may have had.
 */
export function countingGroups({ groups, organizationIds }: Belonging, given: GroupCircumstances): readonly GroupId[] {
  const { organizationId } = given
  const isMember = organizationId !== undefined && organizationIds.includes(organizationId)
  const counting = groups.filter((row) => {
    const owner = organizationOfGroup(row.groupId)
    return (owner === undefined || (isMember && owner === organizationId)) && isCounting(row, given)
  })
  return [...new Set(counting.map(({ groupId }) => groupId))].toSorted()
}

/** Whether the operator says it, an administrator or an import. */
export function isOfOperator(row: GroupMembership): boolean {
  return OF_OPERATOR.has(row.source)
}

const OF_OPERATOR: ReadonlySet<MemberSource> = new Set(['operator'])

const WITHOUT_PROVIDER: ReadonlySet<MemberSource> = new Set(['operator', 'application'])

/** Whether a row counts, apart from the membership of the organization. */
export function isCounting(
  row: GroupMembership,
  { now, providers }: Pick<GroupCircumstances, 'now' | 'providers'>,
): boolean {
  if (row.expiresAt !== undefined && row.expiresAt <= now) return false
  if (WITHOUT_PROVIDER.has(row.source)) return true
  const provider = providers.find(({ id }) => sourceOfProvider(id) === row.source)
  if (provider === undefined || provider.disabledAt !== undefined || provider.createdAt > row.createdAt) return false
  return namesGroup(provider.settings.groups, row.groupId)
}

/** Whether a user with the stored rows has room for others: each organization, and the server, has its own maximum. */
export function hasRoom(stored: readonly GroupMembership[], added: readonly GroupMembership[]): boolean {
  const placeOf = ({ groupId }: GroupMembership): OrganizationId | undefined => organizationOfGroup(groupId)
  const places = Map.groupBy([...stored, ...added], placeOf)
  return added.every((row) => (places.get(placeOf(row)) ?? []).length <= MAXIMA.groupsOfUser.most)
}
